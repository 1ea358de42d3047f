"""A place in a row of tokens."""

from spec_reading.tokens import FormulaError, Token

__all__ = ["END", "Cursor", "written"]

END = Token("end", "", glued=False)


class Cursor:
    """The tokens of a formula and how far they are read."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0

    @property
    def next(self) -> Token:
        """The token that is read next."""
        return self.tokens[self.at] if self.at < len(self.tokens) else END

    def take(self, *texts: str) -> bool:
        """Pass the next token if it is one of these signs."""
        if self.next.text in texts and self.next.kind != "name":
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        """Pass this sign, or refuse what stands there."""
        if not self.take(text):
            raise FormulaError(f"expected {text!r} before {self.rest()!r}")

    def rest(self) -> str:
        """Give what is not read yet."""
        return written(self.tokens[self.at :])

    def since(self, start: int) -> str:
        """Give what has been read from a place on."""
        return written(self.tokens[start : self.at])

    def before_modulus(self) -> bool:
        """Say whether `(mod ...)` stands next."""
        return [token.text for token in self.tokens[self.at : self.at + 2]] == ["(", "mod"]


def written(tokens: list[Token]) -> str:
    """Write tokens as text."""
    return "".join(("" if token.glued else " ") + token.text for token in tokens).strip()
