"""What the app has to know of the Source page."""

from views.manifest import Manifest

MANIFEST = Manifest(
    keys=(
        (
            "Source",
            (
                ("`Ctrl+Enter`", "check the text at once"),
                ("`Ctrl+Space`", "what may stand here"),
                ("`Ctrl+Shift+Space`", "the signature of the call"),
                ("`F12`", "to the definition"),
                ("`F2`", "another name"),
                ("`Tab`", "leaves the editor"),
            ),
        ),
        (
            "Graph",
            (
                ("`Space` `+` `-`", "fit, zoom"),
                ("arrows", "move"),
                ("`n` `p`", "next and previous node"),
                ("`Enter` `Backspace` `Esc`", "open a group, fold the last one, clear"),
            ),
        ),
    ),
)
