"""Texts that would be more than text if anything read them as Markdown, HTML, LaTeX or an address."""


def hostile_texts(elsewhere: str) -> tuple[str, ...]:
    """Return texts that try to load `elsewhere`, to run a script, or to change how they are shown."""
    return (
        f"![x]({elsewhere}/markdown.png)",
        f"a`b`![x]({elsewhere}/backtick.png)`c",
        f"<img src={elsewhere}/html.png onerror=alert(1)>",
        "<img src=x onerror=alert(1)>",
        f"</script><script>fetch('{elsewhere}/script')</script>",
        f"$\\href{{{elsewhere}/latex}}{{x}}$ and $$x^2$$",
        f"$\\includegraphics{{{elsewhere}/graphics.png}}$",
        ":material/home: :material_home: :streamlit: :smile: :red[red] :blue-badge[b] :help[me]",
        f"[link](javascript:alert(1)) [other]({elsewhere}/link)",
        f"{elsewhere}/bare www.example.com a@example.com @main @a.b",
        "a -> b <- c <-> d -- e >= f <= g ~= h => i",
        "-> <-",
        "1. one",
        "- item",
        "# title",
        "> quote",
        "+",
        "| a | b |",
        "a*b*c _d_ ~~e~~ **f** ``g``",
        "\"quoted\" 'single' \\ & &lt; &#35; &amp;amp;",
        "right\u202eto left\u200f",
        "    four spaces",
        "[^1]: note",
        "---",
        "a\\*b\\",
        ":::note",
        "::leaf[x]",
        "x:y :z a:b[c]{d}",
        f'<a href="{elsewhere}/a">x</a><style>@import "{elsewhere}/css"</style><svg onload=alert(1)>',
    )
