// Written by tools/typescript_models.py from relax_core/present/grammar.py: change those.

export const GRAMMARS = {
  "tvmscript": {
    "states": {
      "start": [
        {
          "pattern": "#.*",
          "syntax": "synComment",
          "state": ""
        },
        {
          "pattern": "(?:[rRbBfFuU]|[bBfF][rR]|[rR][bBfF])?\"\"\"",
          "syntax": "synString",
          "state": "double"
        },
        {
          "pattern": "(?:[rRbBfFuU]|[bBfF][rR]|[rR][bBfF])?'''",
          "syntax": "synString",
          "state": "single"
        },
        {
          "pattern": "(?:[rRbBfFuU]|[bBfF][rR]|[rR][bBfF])?\"(?:[^\"\\\\]|\\\\.)*(?:\"|\\\\?$)",
          "syntax": "synString",
          "state": ""
        },
        {
          "pattern": "(?:[rRbBfFuU]|[bBfF][rR]|[rR][bBfF])?'(?:[^'\\\\]|\\\\.)*(?:'|\\\\?$)",
          "syntax": "synString",
          "state": ""
        },
        {
          "pattern": "@[\\p{L}\\p{Nl}\\p{No}_][\\p{L}\\p{N}_]*",
          "syntax": "synDecor",
          "state": ""
        },
        {
          "pattern": "[\\p{L}\\p{Nl}\\p{No}_][\\p{L}\\p{N}_]*",
          "syntax": "word",
          "state": ""
        },
        {
          "pattern": "0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|(?:[0-9][0-9_]*(?:\\.[0-9_]*)?|\\.[0-9][0-9_]*)(?:[eE][+-]?[0-9_]+)?[jJ]?",
          "syntax": "synNumber",
          "state": ""
        }
      ],
      "double": [
        {
          "pattern": "\"\"\"",
          "syntax": "synString",
          "state": "start"
        },
        {
          "pattern": "(?:[^\"\\\\]|\\\\.|\\\\$|\"(?!\"\"))+",
          "syntax": "synString",
          "state": ""
        }
      ],
      "single": [
        {
          "pattern": "'''",
          "syntax": "synString",
          "state": "start"
        },
        {
          "pattern": "(?:[^'\\\\]|\\\\.|\\\\$|'(?!''))+",
          "syntax": "synString",
          "state": ""
        }
      ]
    },
    "keywords": [
      "False",
      "None",
      "True",
      "and",
      "as",
      "assert",
      "async",
      "await",
      "break",
      "class",
      "continue",
      "def",
      "del",
      "elif",
      "else",
      "except",
      "finally",
      "for",
      "from",
      "global",
      "if",
      "import",
      "in",
      "is",
      "lambda",
      "nonlocal",
      "not",
      "or",
      "pass",
      "raise",
      "return",
      "try",
      "while",
      "with",
      "yield"
    ],
    "types": "(?:R|T|I|relax|tir|Tensor|Tuple|Object|Shape|Prim|Callable|Buffer)",
    "heads": [
      "def",
      "class"
    ]
  },
  "relay": {
    "states": {
      "start": [
        {
          "pattern": "/\\*",
          "syntax": "synComment",
          "state": "comment"
        },
        {
          "pattern": "//.*",
          "syntax": "synComment",
          "state": ""
        },
        {
          "pattern": "#(?!\\[).*",
          "syntax": "synComment",
          "state": ""
        },
        {
          "pattern": "\"(?:[^\"\\\\]|\\\\.)*\"?",
          "syntax": "synString",
          "state": ""
        },
        {
          "pattern": "#\\[[^\\]]*\\]?|meta\\[(?:[\\p{L}\\p{N}_]|\\.)+\\]\\[[0-9]+\\]",
          "syntax": "synDecor",
          "state": ""
        },
        {
          "pattern": "@[\\p{L}\\p{Nl}\\p{No}_](?:[\\p{L}\\p{N}_]|[?.])*",
          "syntax": "synName",
          "state": ""
        },
        {
          "pattern": "%(?:[\\p{L}\\p{N}_]|[?.])+",
          "syntax": "",
          "state": ""
        },
        {
          "pattern": "[0-9][0-9.]*(?:[eE][+-]?[0-9]+)?(?:bf16|[fiu][0-9]*)?",
          "syntax": "synNumber",
          "state": ""
        },
        {
          "pattern": "match\\?|[\\p{L}\\p{Nl}\\p{No}_](?:[\\p{L}\\p{N}_]|\\?)*(?:\\.[\\p{L}\\p{Nl}\\p{No}_](?:[\\p{L}\\p{N}_]|\\?)*)*",
          "syntax": "word",
          "state": ""
        }
      ],
      "comment": [
        {
          "pattern": "\\*/",
          "syntax": "synComment",
          "state": "start"
        },
        {
          "pattern": "(?:[^*]|\\*(?!/))+",
          "syntax": "synComment",
          "state": ""
        }
      ]
    },
    "keywords": [
      "def",
      "fn",
      "let",
      "if",
      "else",
      "match",
      "match?",
      "type",
      "extern",
      "free_var",
      "ref",
      "ref_read",
      "ref_write",
      "True",
      "False",
      "_"
    ],
    "types": "(?:Tensor|(?:bfloat|float|uint|int)[0-9]+(?:x[0-9]+)?|bool|[A-Z][\\p{L}\\p{N}_]*)",
    "heads": []
  }
} as const;
