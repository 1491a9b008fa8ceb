"""Managed preferences for Python, over the C interface: an application's settings, with those that an administrator forces.

Nothing but the standard library is needed. Values are Python's own: str, int, float, bool, bytes, datetime, list, dict.

    preferences = Preferences("org.example.Editor")
    preferences.register({"AutoSaveInterval": 60})
    interval = preferences["AutoSaveInterval"]
    locked_by = preferences.forced_by("AutoSaveInterval")
"""

import ctypes
import plistlib
import sys
from ctypes import POINTER, byref, c_bool, c_char_p, c_int, c_int64, c_size_t, c_uint, c_uint64, c_void_p

try:
    library = ctypes.CDLL("libmanagedpreferences.so.0")
except OSError as error:
    raise ImportError(
        f"{error}; install it with Scripts/install-library, and under another prefix than the system's set "
        "LD_LIBRARY_PATH=PREFIX/lib"
    ) from None


class _Profile(ctypes.Structure):
    _fields_ = [("id", c_char_p), ("title", c_char_p), ("generation", c_uint64), ("until", c_int64)]


class _KeyChange(ctypes.Structure):
    _fields_ = [
        ("kind", c_int), ("origin", c_int), ("key", c_char_p), ("old_value", c_void_p), ("new_value", c_void_p),
        ("was_forced", c_bool), ("is_forced", c_bool),
    ]


_KeyCallback = ctypes.CFUNCTYPE(None, POINTER(_KeyChange), c_void_p)
_FORMAT_ANY, _FORMAT_BINARY = 0, 1
_OBSERVE_INITIAL = 1
_NO_END = 2**63 - 1

for _name, _parameters in {
    "mp_set_application_identifier": [c_char_p],
    "mp_set_arguments": [POINTER(c_char_p), c_size_t],
    "mp_open": [POINTER(c_void_p)],
    "mp_get_value": [c_void_p, c_char_p, POINTER(c_void_p)],
    "mp_set_value": [c_void_p, c_char_p, c_void_p],
    "mp_remove": [c_void_p, c_char_p],
    "mp_register_defaults": [c_void_p],
    "mp_synchronize": [c_void_p],
    "mp_is_forced": [c_void_p, c_char_p, POINTER(c_bool)],
    "mp_forced_by": [c_void_p, c_char_p, POINTER(POINTER(_Profile)), POINTER(c_size_t)],
    "mp_observe_key": [c_void_p, c_char_p, c_uint, _KeyCallback, c_void_p, c_void_p, POINTER(c_void_p)],
    "mp_value_decode": [c_char_p, c_size_t, c_int, POINTER(c_void_p)],
    "mp_value_encode": [c_void_p, c_int, POINTER(c_void_p), POINTER(c_size_t)],
}.items():
    getattr(library, _name).argtypes = _parameters
for _name in ("mp_close", "mp_free", "mp_value_release", "mp_observation_cancel"):
    getattr(library, _name).argtypes = [c_void_p]
    getattr(library, _name).restype = None
library.mp_error_message.restype = c_char_p


class Error(Exception):
    """What the library said."""


def _check(status):
    if status != 0:
        raise Error(library.mp_error_message().decode())


class _Value:
    """A value of the library's for the time of a `with`; property lists carry the types across."""

    def __init__(self, value):
        data = plistlib.dumps(value, fmt=plistlib.FMT_BINARY)
        self.pointer = c_void_p()
        _check(library.mp_value_decode(data, len(data), _FORMAT_ANY, byref(self.pointer)))

    def __enter__(self):
        return self.pointer

    def __exit__(self, *_):
        library.mp_value_release(self.pointer)


def _python(pointer):
    """A borrowed value as Python has it, None for NULL."""
    if not pointer:
        return None
    data, length = c_void_p(), c_size_t()
    _check(library.mp_value_encode(pointer, _FORMAT_BINARY, byref(data), byref(length)))
    try:
        return plistlib.loads(ctypes.string_at(data, length.value), fmt=plistlib.FMT_BINARY)
    finally:
        library.mp_free(data)


class Observation:
    """Calls back for as long as it is kept and not cancelled."""

    def __init__(self, preferences, key, changed):
        def call(change, _):
            told = change.contents
            changed(_python(told.old_value), _python(told.new_value), told.is_forced)

        # Python's function must live as long as the library may call it.
        self._call = _KeyCallback(call)
        self._pointer = c_void_p()
        _check(
            library.mp_observe_key(
                preferences, key.encode(), _OBSERVE_INITIAL, self._call, None, None, byref(self._pointer)))

    def cancel(self):
        library.mp_observation_cancel(self._pointer)
        self._pointer = None


class Preferences:
    """An application's preferences, as a mapping of keys to values."""

    def __init__(self, identifier, arguments=None):
        arguments = sys.argv[1:] if arguments is None else arguments
        _check(library.mp_set_application_identifier(identifier.encode()))
        words = (c_char_p * len(arguments))(*(word.encode() for word in arguments))
        _check(library.mp_set_arguments(words, len(arguments)))
        self._pointer = c_void_p()
        _check(library.mp_open(byref(self._pointer)))

    def close(self):
        library.mp_close(self._pointer)
        self._pointer = None

    def get(self, key, default=None):
        value = c_void_p()
        _check(library.mp_get_value(self._pointer, key.encode(), byref(value)))
        try:
            found = _python(value)
            return default if found is None else found
        finally:
            library.mp_value_release(value)

    __getitem__ = get

    def __setitem__(self, key, value):
        with _Value(value) as pointer:
            _check(library.mp_set_value(self._pointer, key.encode(), pointer))

    def __delitem__(self, key):
        _check(library.mp_remove(self._pointer, key.encode()))

    def register(self, defaults):
        with _Value(defaults) as pointer:
            _check(library.mp_register_defaults(pointer))

    def synchronize(self):
        _check(library.mp_synchronize(self._pointer))

    def is_forced(self, key):
        forced = c_bool()
        _check(library.mp_is_forced(self._pointer, key.encode(), byref(forced)))
        return forced.value

    def forced_by(self, key):
        """The profiles that force a key: id, title, generation, and the Unix second at which that ends, or None."""
        profiles, count = POINTER(_Profile)(), c_size_t()
        _check(library.mp_forced_by(self._pointer, key.encode(), byref(profiles), byref(count)))
        try:
            return [
                (p.id.decode(), p.title.decode(), p.generation, None if p.until == _NO_END else p.until)
                for p in (profiles[i] for i in range(count.value))
            ]
        finally:
            library.mp_free(profiles)

    def observe(self, key, changed):
        """Calls `changed(old, new, is_forced)`: at once, and whenever one of them changes, on a thread of the library's if
        somebody else changed it."""
        return Observation(self._pointer, key, changed)
