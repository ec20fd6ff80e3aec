"""A PDF that only a password opens."""

import io

from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas


def locked_pdf(password: str) -> bytes:
    out = io.BytesIO()
    canvas = Canvas(out, encrypt=StandardEncryption(password, strength=128))
    canvas.drawString(72, 700, "The pool opens at 7:00 and closes at 21:30 every day.")
    canvas.save()
    return out.getvalue()
