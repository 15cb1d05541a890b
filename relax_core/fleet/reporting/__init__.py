"""What came of a run over many modules, as text, Markdown, JUnit XML and a page of HTML."""
