"""Files of questions and known pairs, as people choose them for a new project."""

import gzip
from pathlib import Path

QUESTIONS = "id,text\n" + "".join(f"q{i},How do I do *{i}*?\n" for i in range(8)) + "q8,How do I do *1*?\n"


def write_questions(folder: Path) -> Path:
    """Write questions, known pairs, wrong ones, and a second list, and return the folder."""
    (folder / "q.csv").write_text(QUESTIONS)
    (folder / "gold.csv").write_text("id1,id2,label\nq0,q1,1\nq1,q2,1\nq3,q4,0\n")
    (folder / "bad.csv").write_text("id1,id2\nq0,q99\n")
    (folder / "right.csv.gz").write_bytes(gzip.compress(b"key,body\nr0,answer\n"))
    return folder
