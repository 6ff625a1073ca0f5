"""Generated messages and stubs of the API (``elbowroom.v1``), for whatever the wrapper does not cover."""
