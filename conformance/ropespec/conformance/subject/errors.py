"""What can become of a call to a subject, other than a reply."""

__all__ = [
    "NotClaimed",
    "NotDifferentiable",
    "NotPossible",
    "Overdue",
    "SubjectCrashed",
    "SubjectError",
    "SubjectRaised",
    "SubjectTimeout",
    "TargetUnusable",
]


class TargetUnusable(Exception):  # noqa: N818  # named for what is said of the target
    """The target cannot be loaded, or not with the profile asked for; one line for the user.

    Attributes
    ----------
    remedy : str
        What to do about it, on lines of their own; may be empty.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


class SubjectError(Exception):
    """A subject gave no result.

    Attributes
    ----------
    message : str
        One line.
    detail : str
        More of it, on several lines: a traceback or the last words. May be empty.
    """

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail


class SubjectRaised(SubjectError):  # noqa: N818  # named for what became of the call
    """The subject raised an exception.

    Attributes
    ----------
    type_name : str
        The class of the exception, such as `ArgumentValueError`.
    type_names : tuple of str
        The class and its bases, so that `"ValueError" in error.type_names` asks what `except
        ValueError` asks.
    message : str
        The text of the exception on one line.
    detail : str
        The part of the traceback that lies in the subject's own files.
    """

    def __init__(self, type_names: tuple[str, ...], message: str, detail: str = "") -> None:
        super().__init__(message, detail)
        self.type_names = type_names
        self.type_name = type_names[0]

    @property
    def out_of_memory(self) -> bool:
        """Whether it raised because there was not enough memory, in the words of any framework."""
        words = ("out of memory", "allocate memory", "resource_exhausted")
        known = {"MemoryError", "OutOfMemoryError"} & set(self.type_names)
        return bool(known) or any(word in self.message.lower() for word in words)

    def __str__(self) -> str:
        return f"{self.type_name}: {self.message}" if self.message else self.type_name


class SubjectCrashed(SubjectError):  # noqa: N818  # as SubjectRaised
    """The worker process died.

    Attributes
    ----------
    signal : str
        The name of the signal it died of, such as `SIGABRT`; empty if it exited.
    exit_code : int or None
        The exit code; None if it died of a signal.
    detail : str
        Its last words: the end of what it printed, including the stack at a fatal signal.
    """

    def __init__(
        self, message: str, detail: str = "", *, signal: str = "", exit_code: int | None = None
    ) -> None:
        super().__init__(message, detail)
        self.signal = signal
        self.exit_code = exit_code


class SubjectTimeout(SubjectError):  # noqa: N818  # as SubjectRaised
    """No answer within the deadline; the worker was killed."""


class Overdue(BaseException):
    """The run has no time for a call; no error of the subject, and no check may take it for one."""


class NotDifferentiable(SubjectError):  # noqa: N818  # as SubjectRaised
    """There is no way to take a gradient through this subject."""


class NotPossible(SubjectError):  # noqa: N818  # as SubjectRaised
    """A transform that the framework or the subject refuses; a refusal is no wrong number."""


class NotClaimed(NotPossible):
    """A call that the profile leaves out; nothing was asked."""
