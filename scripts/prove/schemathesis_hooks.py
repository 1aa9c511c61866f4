"""What a made-up request leaves out."""

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    # A key that was used for another request is refused before anything else, the method included.
    if case.method.upper() != case.operation.method.upper() and case.headers:
        case.headers.pop("Idempotency-Key", None)
