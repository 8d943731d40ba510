# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: embedsignature=True, embedsignature.format=clinic, nonecheck=False
"""The decoder, compiled: the twin of `_decoder_py.py`, value for value and error for error.

One object holds the input, a cursor and the tables.  Each kind of container has a function that reads its children by
calling `_value3` or `_value0` again; depth is a number that is passed along, and `max_depth` bounds it.

Nothing is read before it is known to be there: every read compares what it needs with what is left, and every count is
compared with the bytes left before anything is made for it.  The cursor is always inside the input, whatever code
of the user's does in between (a class that reads itself may call any method of the decoder, even from another thread);
slots are written by number and checked, never by pointer.

Lists are never seen half-filled: they are made with room for all their items and grow into it (`append_new`).

The rule of `plain=True`, a second pass where a guess was wrong, is told in `_decoder_py.py`.
"""

from cpython.datetime cimport datetime_new, import_datetime
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Realloc
from cpython.object cimport PyObject
from libc.math cimport fabs, modf, round
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

import datetime as _datetime

from ._wire import DEPTH_ALONE, VECTOR_NAMES, check_options
from .classes import default_registry
from .dataio import DataInput
from .errors import DecodeError
from .plans import refuse
from .types import Dictionary, EcmaArray, TypedObject, Vector, Xml, invalid_date, undefined

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    #if defined(_MSC_VER)
      #include <stdlib.h>
      #define AMF_SWAP64(x) _byteswap_uint64(x)
      #define AMF_SWAP32(x) _byteswap_ulong(x)
      #define AMF_LIKELY(x) (x)
    #else
      #define AMF_SWAP64(x) __builtin_bswap64(x)
      #define AMF_SWAP32(x) __builtin_bswap32(x)
      #define AMF_LIKELY(x) __builtin_expect(!!(x), 1)
    #endif
    #ifdef WORDS_BIGENDIAN
      #undef AMF_SWAP64
      #undef AMF_SWAP32
      #define AMF_SWAP64(x) (x)
      #define AMF_SWAP32(x) (x)
    #endif

    static inline double amf_get_double(const unsigned char *p) {
        uint64_t bits;
        double number;
        memcpy(&bits, p, 8);
        bits = AMF_SWAP64(bits);
        memcpy(&number, &bits, 8);
        return number;
    }

    static inline uint32_t amf_get_u32(const unsigned char *p) {
        uint32_t bits;
        memcpy(&bits, p, 4);
        return AMF_SWAP32(bits);
    }

    /* Is every byte below 0x80?  Eight at a time, the last eight overlapping. */
    static inline int amf_is_ascii(const unsigned char *p, size_t n) {
        const uint64_t high = 0x8080808080808080u;
        uint64_t bits, seen = 0;
        size_t i;
        if (n >= 8) {
            for (i = 0; i + 8 <= n; i += 8) {
                memcpy(&bits, p + i, 8);
                seen |= bits;
            }
            memcpy(&bits, p + n - 8, 8);
            return !((seen | bits) & high);
        }
        for (i = 0; i < n; i++) seen |= p[i];
        return !(seen & 0x80);
    }

    static inline PyObject *amf_text(const unsigned char *p, Py_ssize_t n) {
        PyObject *text;
        if (AMF_LIKELY(n != 1 && amf_is_ascii(p, (size_t)n))) {
            text = PyUnicode_New(n, 127);
            if (text != NULL) memcpy(PyUnicode_1BYTE_DATA(text), p, (size_t)n);
            return text;
        }
        text = PyUnicode_DecodeUTF8((const char *)p, n, NULL);
        if (text != NULL || !PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) return text;
        PyErr_Clear();
        return PyUnicode_DecodeUTF8((const char *)p, n, "surrogateescape");
    }

    /* Append a new reference: straight into the room that the list was made with, while there is some. */
    static inline int amf_append_new(PyObject *list, PyObject *item) {
    #ifndef Py_GIL_DISABLED
        Py_ssize_t size = PyList_GET_SIZE(list);
        if (AMF_LIKELY(size < ((PyListObject *)list)->allocated)) {
            ((PyListObject *)list)->ob_item[size] = item;
            Py_SET_SIZE(list, size + 1);
            return 0;
        }
    #endif
        {
            int failed = PyList_Append(list, item);
            Py_DECREF(item);
            return failed;
        }
    }

    /* An empty list with room for `count` items. */
    static inline PyObject *amf_roomy_list(Py_ssize_t count) {
    #ifdef Py_GIL_DISABLED
        return PyList_New(0);
    #else
        PyObject *list = PyList_New(count);
        if (list != NULL) Py_SET_SIZE(list, 0);
        return list;
    #endif
    }

    static inline uint32_t amf_key_hash(const unsigned char *p, size_t n) {
        uint32_t a = 0, b = 0;
        if (n >= 4) { memcpy(&a, p, 4); memcpy(&b, p + n - 4, 4); }
        else { a = p[0] | (uint32_t)p[n >> 1] << 8; b = p[n - 1]; }
        a = (a ^ (uint32_t)n * 0x9E3779B1u) * 0x85EBCA77u;
        a = (a ^ a >> 15 ^ b) * 0xC2B2AE3Du;
        return a ^ a >> 16;
    }

    static inline PyObject *amf_bare(PyObject *cls, PyObject *nothing) {
        return ((PyTypeObject *)cls)->tp_new((PyTypeObject *)cls, nothing, NULL);
    }
    """
    double amf_get_double(const unsigned char *p) noexcept nogil
    uint32_t amf_get_u32(const unsigned char *p) noexcept nogil
    PyObject *amf_text(const unsigned char *p, Py_ssize_t n) except NULL
    int amf_append_new(PyObject *items, PyObject *item) except -1
    PyObject *amf_roomy_list(Py_ssize_t count) except NULL
    uint32_t amf_key_hash(const unsigned char *p, size_t n) noexcept nogil
    PyObject *amf_bare(PyObject *cls, PyObject *nothing) except NULL

cdef extern from "Python.h":
    PyObject *Py_None
    PyObject *Py_True
    PyObject *Py_False
    void Py_INCREF(PyObject *)
    void Py_DECREF(PyObject *)
    void Py_XDECREF(PyObject *)
    PyObject *PyFloat_FromDouble(double) except NULL
    PyObject *PyLong_FromLongLong(long long) except NULL
    PyObject *PyDict_New() except NULL
    int PyDict_SetItem(PyObject *, PyObject *, PyObject *) except -1
    PyObject *PyBytes_FromStringAndSize(const char *, Py_ssize_t) except NULL
    const unsigned char *PyBytes_AS_STRING "(const unsigned char *)PyBytes_AS_STRING" (object)
    Py_ssize_t PyBytes_GET_SIZE(object)
    int PyObject_GenericSetAttr(PyObject *, PyObject *, PyObject *) except -1
    PyObject *PyTuple_GET_ITEM(object, Py_ssize_t)
    const char *PyUnicode_AsUTF8AndSize(PyObject *, Py_ssize_t *) except NULL
    bint memcmp_equal "!memcmp" (const void *, const void *, size_t) noexcept

import_datetime()

cdef enum:
    FORM_WRAPPER = 1
    FORM_EXTERNAL = 2
    EXTERNAL_DEPTH = 32
    FIRST_TABLE = 32
    KEYS = 256  # AMF0 keys kept by their bytes; direct-mapped, so a collision costs a new string and nothing else
    KEY_MAX = 64  # bytes; longer keys are not kept

cdef double EXACT_INT = 9007199254740992.0
cdef int64_t NO_LIMIT = <int64_t>1 << 62
cdef int64_t FIRST_MICROSECOND = -62135596800000000
cdef int64_t PAST_MICROSECOND = 253402300800000000
cdef int64_t INDEX_END = 4294967295
cdef object _UTC = _datetime.timezone.utc
cdef object _PENDING = object()
cdef PyObject *PENDING = <PyObject *>_PENDING  # a slot that cannot be referred to before its value is complete
cdef tuple NOTHING = ()

cdef struct Table:
    PyObject **items
    Py_ssize_t count
    Py_ssize_t room

cdef struct Key:
    PyObject *text
    const char *data
    Py_ssize_t size


cdef int add(Table *table, PyObject *item) except -1:
    """Append an item, of which the table takes a reference of its own."""
    cdef PyObject **bigger
    cdef Py_ssize_t room
    if table.count == table.room:
        room = table.room * 2 if table.room else FIRST_TABLE
        bigger = <PyObject **>PyMem_Realloc(table.items, room * sizeof(PyObject *))
        if bigger == NULL:
            raise MemoryError()
        table.items = bigger
        table.room = room
    Py_INCREF(item)
    table.items[table.count] = item
    table.count += 1
    return 0


cdef void put(Table *table, Py_ssize_t slot, PyObject *item) noexcept:
    """Replace an item; a slot that is gone (a decoder used from within itself) is left alone."""
    cdef PyObject *old
    if slot < table.count:
        old = table.items[slot]
        Py_INCREF(item)
        table.items[slot] = item
        Py_DECREF(old)


cdef void cut(Table *table, Py_ssize_t count) noexcept:
    """Shorten a table."""
    while table.count > count:
        table.count -= 1
        Py_DECREF(table.items[table.count])


cdef class Traits:
    """What the wire says of a class: AMF3's traits, with the plan of the class if somebody registered it."""

    cdef str alias
    cdef tuple names
    cdef bint dynamic
    cdef bint external
    cdef object plan
    cdef int form  # of the plan; -1 without one
    cdef tuple attributes  # where each member goes straight into the instance, when all members are there and known
    cdef object cls


cdef class Decoder:
    """Decode values one after another, as parts of one stream.

    `data`: any bytes-like object; what is mutable is copied.  `offset`: where to begin.  The other options are those
    of `amfgate.loads`.  The tables go on from value to value, as they do within a shared object or a packet's body.

        for value in amfgate.Decoder(data, version=0): ...

    TypeError if `data` is a str; ValueError for an option that is none.
    """

    cdef readonly int version
    cdef readonly Py_ssize_t references
    cdef bytes _data
    cdef const unsigned char *base
    cdef const unsigned char *p
    cdef const unsigned char *end
    cdef Py_ssize_t _offset
    cdef object _classes
    cdef Py_ssize_t _max_depth
    cdef object _max_values
    cdef bint plain
    cdef bint milliseconds
    cdef Table strings
    cdef Table objects
    cdef Table traits
    cdef Table slots
    cdef Key *keys
    cdef int64_t values
    cdef Py_ssize_t depth  # at which an externalizable's own values are
    cdef int external
    cdef bint counted
    cdef Py_ssize_t standing  # how many collections have a source that is about to be read: their slots are
    cdef list _standing  # these, the last `standing` of them
    cdef set _sparse
    cdef dict _guesses
    cdef bint misled
    cdef object _error

    def __cinit__(self, data, *, version=3, classes=None, limits=None, plain=False, dates="datetime", offset=0):
        if not (version is 3 and limits is None and dates == "datetime"):
            check_options(version, limits, dates=dates)
        if type(data) is not bytes:
            if isinstance(data, str):
                raise TypeError("AMF is bytes, not str; bytes.fromhex() reads a hex dump")
            data = memoryview(data).tobytes()
        if limits is None:
            limits = DEPTH_ALONE
        self.version = version
        self._data = data
        self.base = self.p = PyBytes_AS_STRING(data)
        self.end = self.base + PyBytes_GET_SIZE(data)
        self.offset = offset
        self._classes = default_registry if classes is None else classes
        self._max_depth = limits.max_depth
        self._max_values = limits.max_values
        self.plain = plain
        self.milliseconds = dates == "ms"
        self.counted = True
        most = limits.max_body
        if most is not None and PyBytes_GET_SIZE(data) - self._offset > most:
            raise DecodeError(f"an input of {PyBytes_GET_SIZE(data) - offset} bytes is over the limit of {most}")

    def __dealloc__(self):
        cdef int i
        cut(&self.strings, 0)
        cut(&self.objects, 0)
        cut(&self.traits, 0)
        cut(&self.slots, 0)
        PyMem_Free(self.strings.items)
        PyMem_Free(self.objects.items)
        PyMem_Free(self.traits.items)
        PyMem_Free(self.slots.items)
        if self.keys != NULL:
            for i in range(KEYS):
                Py_XDECREF(self.keys[i].text)
            PyMem_Free(self.keys)

    @property
    def offset(self):
        """Where the next value begins, in bytes from the start of the input.  Set it to skip what is no AMF."""
        return self._offset

    @offset.setter
    def offset(self, offset):
        if not 0 <= offset <= PyBytes_GET_SIZE(self._data):
            raise ValueError(f"offset {offset} is outside the input of {PyBytes_GET_SIZE(self._data)} bytes")
        self._offset = offset

    @property
    def at_end(self):
        """Is all of the input read?"""
        return self._offset >= PyBytes_GET_SIZE(self._data)

    @property
    def bytes_left(self):
        return PyBytes_GET_SIZE(self._data) - self._offset

    def __iter__(self):
        while self._offset < PyBytes_GET_SIZE(self._data):
            yield self.decode()

    def decode(self, version=None):
        """The next value; `version` (0 or 3) reads just this one as another version than the decoder's.

        EOFError when the input is all read; DecodeError when what is left is no value.  After that the decoder
        is of no more use and raises the same error again.
        """
        if version is None:
            version = self.version
        elif version not in (0, 3):
            raise ValueError(f"version is 0 (AMF0) or 3 (AMF3), not {version!r}")
        if self._offset >= PyBytes_GET_SIZE(self._data):
            raise EOFError("all of the input is read")
        return self._read(version)

    def decode_body(self, *, counted=True):
        """The value of one body or header of a packet, which starts in AMF0.

        counted: a strict array at the root, the arguments of a call, takes the first AMF0 slot.  Clients of
        ActionScript 2 count it, those of ActionScript 3 do not.
        """
        self.counted = counted
        try:
            return self._read(0)
        finally:
            self.counted = True

    def decode_string(self):
        """A text without marker, through the string table: a key of an AMF3 shared object."""
        if self._error is not None:
            raise self._error
        self.p = self.base + self._offset
        try:
            text = self._string()
        except DecodeError as error:
            self._error = error
            raise
        self._offset = self.p - self.base
        return text

    cdef object _read(self, int version):
        cdef Py_ssize_t start = self._offset
        cdef Py_ssize_t strings = self.strings.count
        cdef Py_ssize_t objects = self.objects.count
        cdef Py_ssize_t traits = self.traits.count
        cdef Py_ssize_t slots = self.slots.count
        cdef Py_ssize_t references = self.references
        cdef object value
        if self._error is not None:
            raise self._error
        try:
            while True:
                self.values = (NO_LIMIT if self._max_values is None else <int64_t>self._max_values) - 1
                self.misled = False
                self.standing = 0
                self.p = self.base + start
                value = self._value3(0) if version == 3 else self._value0(0)
                if not self.misled:
                    break
                cut(&self.strings, strings)
                cut(&self.objects, objects)
                cut(&self.traits, traits)
                cut(&self.slots, slots)
                self.references = references
        except DecodeError as error:
            self._error = error
            raise
        self._offset = self.p - self.base
        self._sparse = None
        self._guesses = None
        return value

    # --- what externalizable classes use, through DataInput ---------------------------------------------------------

    def take(self, count):
        """The next `count` bytes of an externalizable's payload."""
        cdef Py_ssize_t at = self._offset
        if count > PyBytes_GET_SIZE(self._data) - at:
            raise self._ends(at, count)
        self._offset = at + count
        return self._data[at : at + count]

    def read_object(self):
        """One AMF3 value inside an externalizable's payload."""
        cdef object value
        self.values -= 1
        if self.values < 0:
            raise self._too_many(self._offset)
        self.p = self.base + self._offset
        self.standing = 0
        value = self._value3(self.depth)
        self._offset = self.p - self.base
        return value

    # --- errors -----------------------------------------------------------------------------------------------------------

    cdef object _ends(self, Py_ssize_t at, count, str inside=""):
        cdef Py_ssize_t total = PyBytes_GET_SIZE(self._data)
        left = max(total - at, 0)
        more = f", {inside} not closed" if inside else ""
        return DecodeError(
            f"unexpected end of input: {count} byte{'s' if count != 1 else ''} expected, {left} left{more}",
            min(at, total),
        )

    cdef object _ends_here(self, Py_ssize_t count):
        return self._ends(self.p - self.base, count)

    cdef object _too_many(self, Py_ssize_t at):
        most = NO_LIMIT if self._max_values is None else self._max_values
        return DecodeError(f"more than {most} values (Limits(max_values=...) sets how many)", at)

    cdef object _too_deep(self, Py_ssize_t at):
        return DecodeError(
            f"more than {self._max_depth} containers within each other (Limits(max_depth=...) sets how many)", at
        )

    cdef object _too_long(self, str what, count):
        return DecodeError(f"{what} of {count} does not fit in the {self.end - self.p} bytes that are left", self._at())

    cdef object _no_slot(self, Py_ssize_t index, Py_ssize_t count, str what, str things, Py_ssize_t start):
        return DecodeError(f"{what} {index}, and only {count} {things} came before", start)

    cdef inline Py_ssize_t _at(self) noexcept:
        return self.p - self.base

    cdef inline int _charge(self, int64_t count, const unsigned char *start) except -1:
        self.values -= count
        if self.values < 0:
            raise self._too_many(start - self.base)
        return 0

    # --- parts of values ------------------------------------------------------------------------------------------------

    cdef inline int64_t _u29(self) except -1:
        """A U29 (AMF3 specification, 1.3.1); longer forms than needed are read too."""
        if self.p < self.end and self.p[0] < 0x80:
            self.p += 1
            return (self.p - 1)[0]
        return self._long_u29()

    cdef int64_t _long_u29(self) except -1:
        cdef uint32_t number = 0
        cdef int i
        for i in range(3):
            if self.p >= self.end:
                raise self._ends_here(1)
            if self.p[0] < 0x80:
                self.p += 1
                return number << 7 | (self.p - 1)[0]
            number = number << 7 | self.p[0] & 0x7F
            self.p += 1
        if self.p >= self.end:
            raise self._ends_here(1)
        self.p += 1
        return number << 8 | (self.p - 1)[0]

    cdef object _text(self, Py_ssize_t size):
        """UTF-8, bytes that are none as lone surrogates, so that writing gives them back."""
        cdef PyObject *found
        cdef object text
        if size > self.end - self.p:
            raise DecodeError(
                f"a text of {size} bytes runs past the end: {self.end - self.p} are left", self._at()
            )
        if not size:
            return ""
        found = amf_text(self.p, size)
        text = <object>found
        Py_DECREF(found)
        self.p += size
        return text

    cdef object _string(self):
        """A text without marker: a name, a key, an alias; in AMF3 also a value's."""
        cdef const unsigned char *start = self.p
        cdef int64_t head = self._u29()
        cdef object text
        if not head & 1:
            if head >> 1 >= self.strings.count:
                raise self._no_slot(head >> 1, self.strings.count, "string reference", "strings", start - self.base)
            return <object>self.strings.items[head >> 1]
        if head == 1:
            return ""
        text = self._text(head >> 1)
        add(&self.strings, <PyObject *>text)
        return text

    cdef object _text16(self, str inside=""):
        cdef Py_ssize_t size
        if self.end - self.p < 2:
            raise self._ends(self._at(), 2, inside)
        size = self.p[0] << 8 | self.p[1]
        self.p += 2
        return self._text(size)

    cdef int64_t _u32(self) except -1:
        if self.end - self.p < 4:
            raise self._ends_here(4)
        self.p += 4
        return amf_get_u32(self.p - 4)

    cdef inline double _double(self) except? -1.5:
        if self.end - self.p < 8:
            raise self._ends_here(8)
        self.p += 8
        return amf_get_double(self.p - 8)

    cdef object _number(self, bint whole):
        """A double, as an int where it is a whole number and whole ones are wanted."""
        cdef double number = self._double()
        cdef PyObject *found
        cdef object value
        if (
            whole
            and -EXACT_INT <= number <= EXACT_INT
            and <double><int64_t>number == number
            and (number or (self.p - 8)[0] != 0x80)
        ):
            found = PyLong_FromLongLong(<int64_t>number)
        else:
            found = PyFloat_FromDouble(number)
        value = <object>found
        Py_DECREF(found)
        return value

    cdef object _date(self):
        """A time in milliseconds since the epoch in UTC, to the microsecond as timedelta rounds it: half to even."""
        cdef double number = self._double()
        cdef double whole, part, extra
        cdef int64_t micros, days, rest, era, day_of_era, year_of_era, year, day_of_year, month
        cdef int odd
        if self.milliseconds:
            return number
        if number - number != 0.0:  # NaN and the infinities
            return invalid_date
        if fabs(number) <= 1e15:
            part = modf(number, &whole)
            micros = <int64_t>whole * 1000
            part = modf(part * 1000.0, &whole)
            micros += <int64_t>whole
            if part:
                extra = round(part)
                if fabs(extra - part) == 0.5:
                    odd = <int>(micros & 1)
                    extra = 2.0 * round((part + odd) * 0.5) - odd
                micros += <int64_t>extra
            if FIRST_MICROSECOND <= micros < PAST_MICROSECOND:
                # days since the epoch to a date, counted in eras of 400 years that begin on the first of March
                days = (micros - FIRST_MICROSECOND) // 86400000000
                rest = micros - FIRST_MICROSECOND - days * 86400000000
                days += 306  # from 0000-03-01 to 0001-01-01
                era = days // 146097
                day_of_era = days - era * 146097
                year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36524 - day_of_era // 146096) // 365
                day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
                month = (5 * day_of_year + 2) // 153
                year = year_of_era + era * 400 + (month >= 10)
                return datetime_new(
                    year,
                    month + 3 if month < 10 else month - 9,
                    day_of_year - (153 * month + 2) // 5 + 1,
                    rest // 3600000000,
                    rest // 60000000 % 60,
                    rest // 1000000 % 60,
                    rest % 1000000,
                    _UTC,
                )
        raise DecodeError(
            f'the date {number!r} ms is outside the years 1 to 9999 (dates="ms" reads it)', self._at() - 8
        )

    # --- objects that are not complete ------------------------------------------------------------------------------

    cdef object _made(self, plan, const unsigned char *start):
        """A bare instance of a registered class; PENDING where it can only be made complete."""
        if plan.make is None:
            return _PENDING
        try:
            return plan.make()
        except MemoryError:
            raise
        except Exception as error:  # an abstract class, a `__new__` that wants arguments
            raise refuse(plan, error, start - self.base) from error

    cdef object _finished(self, plan, instance, members, const unsigned char *start):
        """A complete instance of a registered class."""
        cdef const unsigned char *at = self.p
        try:
            if plan.build is not None:
                instance, defaults = plan.build(members)
            else:
                defaults = plan.fill(instance, members)
        except MemoryError:
            raise
        except Exception as error:
            raise refuse(plan, error, start - self.base) from error
        self.p = at
        self._charge(defaults, at)
        return instance

    cdef object _guess(self, array, const unsigned char *start):
        """What stands in the table for an associative array that may become a list."""
        if not self.plain or self._sparse is not None and start - self.base in self._sparse:
            return array
        if self._guesses is None:
            self._guesses = {}
        guess = []
        self._guesses[id(guess)] = False
        return guess

    cdef object _becomes(self, Table *table, Py_ssize_t slot, array, guess, const unsigned char *start):
        """A complete associative array, read with `plain`: a list if its keys are 0 to n-1."""
        cdef Py_ssize_t i, count
        if not self.plain:
            return array
        used = self._guesses.pop(id(guess), False) if self._guesses is not None else False
        count = len(array)
        for i in range(count):
            if i not in array:
                break
        else:
            items = [array[i] for i in range(count)]
            if guess is array:
                return array if self._sparse is not None and start - self.base in self._sparse else items
            guess.extend(items)
            return guess
        if used and guess is not array:
            if self._sparse is None:
                self._sparse = set()
            self._sparse.add(start - self.base)
            self.misled = True
        put(table, slot, <PyObject *>array)
        return array

    cdef int _stand_in(self, PyObject *value) except -1:
        """A collection's source begins: with `plain` it is what references to the collection mean."""
        while self.standing:
            self.standing -= 1
            put(&self.objects, self._standing.pop(), value)
        return 0

    cdef int _referred(self, PyObject *value) except -1:
        """Somebody has got hold of what may turn out to be the wrong guess."""
        if self._guesses is not None and id(<object>value) in self._guesses:
            self._guesses[id(<object>value)] = True
        return 0

    # --- AMF3 -----------------------------------------------------------------------------------------------------------

    cdef object _value3(self, Py_ssize_t depth):
        """One AMF3 value inside `depth` containers: the common scalars here, the rest in `_other3`."""
        cdef const unsigned char *start = self.p
        cdef int marker
        cdef int64_t number
        cdef PyObject *found
        cdef object value
        if start >= self.end:
            raise self._ends_here(1)
        marker = start[0]
        self.p = start + 1
        if marker == 0x06:
            return self._string()
        if marker == 0x04:
            number = self._u29()
            if number & 0x10000000:
                number -= 0x20000000
            found = PyLong_FromLongLong(number)
            value = <object>found
            Py_DECREF(found)
            return value
        if marker == 0x05:
            return self._number(self.plain)
        if marker == 0x01:
            return None
        if marker == 0x03:
            return True
        if marker == 0x02:
            return False
        return self._other3(marker, start, depth)

    cdef object _other3(self, int marker, const unsigned char *start, Py_ssize_t depth):
        """A value with a slot of the object table (and undefined, and what is no value)."""
        cdef int64_t header, index
        cdef Py_ssize_t size
        cdef object value
        if marker == 0x00:
            return undefined
        if marker > 0x11:
            raise DecodeError(f"0x{marker:02X} is no marker of AMF3", start - self.base)
        header = self._u29()
        if not header & 1:
            index = header >> 1
            if index >= self.objects.count:
                raise self._no_slot(index, self.objects.count, "object reference", "objects", start - self.base)
            if self.objects.items[index] == PENDING:
                raise DecodeError(f"object reference {index} is to an object that is not complete", start - self.base)
            if self.plain:
                self._referred(self.objects.items[index])
            return <object>self.objects.items[index]
        if marker == 0x0A or marker == 0x09 or marker > 0x0C:
            if depth >= self._max_depth:
                raise self._too_deep(start - self.base)
            if marker == 0x09:
                return self._array3(header >> 1, start, depth + 1)
            if marker == 0x0A:
                return self._object3(header, start, depth + 1)
            if marker == 0x11:
                return self._dictionary3(header >> 1, start, depth + 1)
            if marker == 0x10:
                return self._vector3(header >> 1, start, depth + 1)
            return self._numbers3(marker, header >> 1, start)
        if marker == 0x08:
            value = self._date()
        else:
            size = header >> 1
            if marker == 0x0C:
                if size > self.end - self.p:
                    raise self._too_long("a ByteArray", size)
                value = self._data[self._at() : self._at() + size]
                self.p += size
            else:
                value = Xml(self._text(size), marker == 0x07)
        add(&self.objects, <PyObject *>value)
        return value

    cdef object _array3(self, Py_ssize_t count, const unsigned char *start, Py_ssize_t depth):
        """An array: a list, or an EcmaArray if it has an associative part (AMF3 specification, 3.11)."""
        cdef PyObject *found
        cdef object items, key
        if count > self.end - self.p:
            raise self._too_long("an array", count)
        self._charge(count, start)
        key = self._string()
        if key:
            return self._associative3(count, key, start, depth)
        found = amf_roomy_list(count)
        items = <object>found
        Py_DECREF(found)
        add(&self.objects, found)
        if self.standing:
            self._stand_in(found)
        self._items3(found, count, depth)
        return items

    cdef int _items3(self, PyObject *items, Py_ssize_t count, Py_ssize_t depth) except -1:
        """The values of an array; runs of doubles and small ints without a look left or right."""
        cdef PyObject *item
        cdef object value
        cdef const unsigned char *p
        while count:
            p = self.p
            if p < self.end:
                if p[0] == 0x05 and not self.plain:
                    while count and self.end - p >= 9 and p[0] == 0x05:
                        amf_append_new(items, PyFloat_FromDouble(amf_get_double(p + 1)))
                        p += 9
                        count -= 1
                    if p != self.p:
                        self.p = p
                        continue
                elif p[0] == 0x04 and self.end - p >= 2 and p[1] < 0x80:
                    while count and self.end - p >= 2 and p[0] == 0x04 and p[1] < 0x80:
                        amf_append_new(items, PyLong_FromLongLong(p[1]))
                        p += 2
                        count -= 1
                    self.p = p
                    continue
            value = self._value3(depth)
            item = <PyObject *>value
            Py_INCREF(item)
            amf_append_new(items, item)
            count -= 1
        return 0

    cdef object _associative3(self, Py_ssize_t count, key, const unsigned char *start, Py_ssize_t depth):
        """The associative part, then the dense one, whose values win over the same index before them."""
        cdef object array = EcmaArray(count=count)
        cdef object guess = self._guess(array, start)
        cdef object value
        cdef Py_ssize_t i, slot = self.objects.count
        add(&self.objects, <PyObject *>guess)
        if self.standing:
            self._stand_in(<PyObject *>guess)
        self._charge(1, start)
        while True:
            value = self._value3(depth)
            array[index_key(key)] = value
            key = self._string()
            if not key:
                break
            self._charge(1, self.p)
        for i in range(count):
            value = self._value3(depth)
            array[i] = value
        return self._becomes(&self.objects, slot, array, guess, start)

    cdef Traits _traits_at(self, int64_t header, const unsigned char *start):
        """The traits of an object whose U29 is `header`: by reference, or as they follow."""
        cdef Traits traits
        cdef int64_t count, i
        cdef list names
        if not header & 2:
            if header >> 2 >= self.traits.count:
                raise self._no_slot(header >> 2, self.traits.count, "traits reference", "traits", start - self.base)
            return <Traits>self.traits.items[header >> 2]
        traits = Traits.__new__(Traits)
        traits.external = (header & 4) != 0
        traits.dynamic = (header & 8) != 0
        count = header >> 4
        traits.alias = self._string()
        names = []
        if traits.external:
            count = 0
        if count > self.end - self.p:
            raise self._too_long("traits with a member count", count)
        for i in range(count):
            names.append(self._string())
        traits.names = tuple(names)
        traits.plan = self._classes.plan_for(traits.alias) if traits.alias else None
        traits.form = -1 if traits.plan is None else traits.plan.form
        if traits.form == 0 and traits.plan.direct is not None and not traits.dynamic:
            attributes = tuple([traits.plan.direct.get(name) for name in names])
            if None not in attributes and len(set(attributes)) == len(traits.plan.direct) == len(attributes):
                traits.attributes = attributes
                traits.cls = traits.plan.cls
        add(&self.traits, <PyObject *>traits)
        return traits

    cdef object _object3(self, int64_t header, const unsigned char *start, Py_ssize_t depth):
        """An object (AMF3 specification, 3.12)."""
        cdef Traits traits = self._traits_at(header, start)
        cdef PyObject *found
        cdef object members, instance
        cdef Py_ssize_t slot
        if traits.external:
            if traits.form == FORM_WRAPPER:
                return self._wrapper3(traits, start, depth)
            return self._external3(traits, start, depth)
        if traits.attributes is not None:
            return self._direct3(traits, start, depth)
        if traits.form == 0:
            members = {}
            instance = self._made(traits.plan, start)
        elif traits.alias or not self.plain and (traits.names or not traits.dynamic):
            members = instance = TypedObject(traits.alias, sealed=traits.names, dynamic=traits.dynamic)
        else:
            found = PyDict_New()
            members = instance = <object>found
            Py_DECREF(found)
        slot = self.objects.count
        add(&self.objects, <PyObject *>instance)
        if self.standing and instance is not _PENDING:
            self._stand_in(<PyObject *>instance)
        self.standing = 0
        self._members3(traits, <PyObject *>members, start, depth)
        if traits.form < 0:
            return members
        if traits.form:  # externalizable, but sent with members: `plain` wants the source
            if self.plain and traits.form == FORM_WRAPPER and "source" in members:
                instance = members["source"]
                put(&self.objects, slot, <PyObject *>instance)
                return instance
            return members
        instance = self._finished(traits.plan, instance, members, start)
        put(&self.objects, slot, <PyObject *>instance)
        return instance

    cdef int _members3(self, Traits traits, PyObject *members, const unsigned char *start, Py_ssize_t depth) except -1:
        """Sealed members in the order of the traits, then dynamic ones up to the empty name."""
        cdef tuple names = traits.names
        cdef Py_ssize_t i, count = len(names)
        cdef object value, name
        self._charge(count, start)
        for i in range(count):
            value = self._value3(depth)
            PyDict_SetItem(members, PyTuple_GET_ITEM(names, i), <PyObject *>value)
        if traits.dynamic:
            while True:
                name = self._member()
                if not name:
                    break
                value = self._value3(depth)
                PyDict_SetItem(members, <PyObject *>name, <PyObject *>value)
        return 0

    cdef object _member(self):
        """The name of the next dynamic member; "" ends the object."""
        cdef const unsigned char *at = self.p
        cdef object name
        if at >= self.end:
            raise self._ends(self._at(), 1, "object")
        if at[0] == 0x01:
            self.p += 1
            return ""
        name = self._string()
        if name:
            self._charge(1, at)
        return name

    cdef object _direct3(self, Traits traits, const unsigned char *start, Py_ssize_t depth):
        """An instance whose members all come, and go where `object.__setattr__` would put them."""
        cdef PyObject *found
        cdef object instance, value
        cdef tuple attributes = traits.attributes
        cdef Py_ssize_t i, count = len(attributes)
        try:
            found = amf_bare(<PyObject *>traits.cls, <PyObject *>NOTHING)
        except MemoryError:
            raise
        except Exception as error:
            raise refuse(traits.plan, error, start - self.base) from error
        instance = <object>found
        Py_DECREF(found)
        add(&self.objects, found)
        if self.standing:
            self._stand_in(found)
        self._charge(count, start)
        for i in range(count):
            value = self._value3(depth)
            PyObject_GenericSetAttr(found, PyTuple_GET_ITEM(attributes, i), <PyObject *>value)
        return instance

    cdef object _wrapper3(self, Traits traits, const unsigned char *start, Py_ssize_t depth):
        """A Flex collection: its payload is one value."""
        cdef object value, instance
        cdef Py_ssize_t slot = self.objects.count
        if self.plain:
            add(&self.objects, PENDING)
            self._charge(1, start)
            if self._standing is None:
                self._standing = []
            if not self.standing:
                self._standing.clear()
            self._standing.append(slot)
            self.standing += 1
            value = self._value3(depth)
            self.standing = 0
            put(&self.objects, slot, <PyObject *>value)
            return value
        instance = traits.plan.make()
        if traits.dynamic:
            instance.__amf_dynamic__ = True
        add(&self.objects, <PyObject *>instance)
        self._charge(1, start)
        value = self._value3(depth)
        instance.source = value
        return instance

    cdef object _external3(self, Traits traits, const unsigned char *start, Py_ssize_t depth):
        """An object that only its class can read."""
        cdef object plan = traits.plan
        cdef object instance
        cdef Py_ssize_t outer
        if traits.form != FORM_EXTERNAL or plan.make is None:
            what = "is not registered" if plan is None else "is registered without external=True"
            raise DecodeError(
                f"{traits.alias!r} is externalizable and {what}: only its class knows how long it is",
                start - self.base,
            )
        if self.external >= EXTERNAL_DEPTH:
            raise DecodeError(
                f"more than {EXTERNAL_DEPTH} externalizable objects within each other", start - self.base
            )
        self._offset = self._at()
        instance = self._made(plan, start)
        add(&self.objects, <PyObject *>instance)
        outer = self.depth
        self.depth = depth
        self.external += 1
        try:
            instance.__readamf__(DataInput(self))
        except DecodeError as error:
            if error.offset is None:  # raised by the class, which does not know where it is
                error.offset = start - self.base
                error.args = (error.message, error.offset)
            raise
        except MemoryError:
            raise
        except Exception as error:
            raise refuse(plan, error, start - self.base) from error
        finally:
            self.depth = outer
            self.external -= 1
        self.standing = 0
        self.p = self.base + self._offset
        return instance

    cdef object _dictionary3(self, int64_t count, const unsigned char *start, Py_ssize_t depth):
        """A Dictionary (AMF3 specification, 3.16): any values as keys."""
        cdef object found, key, value
        cdef int64_t i
        if self.p >= self.end:
            raise self._ends_here(1)
        if 2 * count > self.end - self.p:
            raise self._too_long("a Dictionary", count)
        self._charge(2 * count, start)
        found = Dictionary(weak=self.p[0] == 1)
        self.p += 1
        add(&self.objects, <PyObject *>found)
        if self.standing:
            self._stand_in(<PyObject *>found)
        for i in range(count):
            key = self._value3(depth)
            value = self._value3(depth)
            found[key] = value
        return found

    cdef object _vector3(self, Py_ssize_t count, const unsigned char *start, Py_ssize_t depth):
        """A Vector of objects (AMF3 specification, 3.15)."""
        cdef object vector, alias
        cdef bint fixed
        if self.p >= self.end:
            raise self._ends_here(1)
        fixed = self.p[0] != 0
        self.p += 1
        alias = self._string()
        if count > self.end - self.p:
            raise self._too_long("a Vector", count)
        self._charge(count, start)
        vector = Vector("object", fixed=fixed, alias=alias)
        add(&self.objects, <PyObject *>vector)
        if self.standing:
            self._stand_in(<PyObject *>vector)
        self._items3(<PyObject *>vector, count, depth)
        return vector

    cdef object _numbers3(self, int marker, Py_ssize_t count, const unsigned char *start):
        """A Vector of int, uint or Number."""
        cdef Py_ssize_t size = 8 if marker == 0x0F else 4
        cdef const unsigned char *p
        cdef PyObject *numbers
        cdef object held, vector
        cdef Py_ssize_t i
        if self.p >= self.end:
            raise self._ends_here(1)
        if size * count > self.end - self.p - 1:
            raise self._too_long("a Vector", count)
        self._charge(count, start)
        p = self.p + 1
        numbers = amf_roomy_list(count)
        held = <object>numbers
        Py_DECREF(numbers)
        for i in range(count):
            if marker == 0x0F:
                amf_append_new(numbers, PyFloat_FromDouble(amf_get_double(p)))
            elif marker == 0x0D:
                amf_append_new(numbers, PyLong_FromLongLong(<int><uint32_t>amf_get_u32(p)))
            else:
                amf_append_new(numbers, PyLong_FromLongLong(amf_get_u32(p)))
            p += size
        vector = Vector(VECTOR_NAMES[marker], held, fixed=self.p[0] != 0)
        self.p = p
        add(&self.objects, <PyObject *>vector)
        return vector

    # --- AMF0 -----------------------------------------------------------------------------------------------------------

    cdef object _value0(self, Py_ssize_t depth):
        """One AMF0 value inside `depth` containers: the common scalars here, the rest in `_other0`."""
        cdef const unsigned char *start = self.p
        cdef int marker
        if start >= self.end:
            raise self._ends_here(1)
        marker = start[0]
        self.p = start + 1
        if marker == 0x02:
            return self._text16()
        if marker == 0x00:
            return self._number(True)
        if marker == 0x01:
            if self.p >= self.end:
                raise self._ends_here(1)
            self.p += 1
            return (self.p - 1)[0] != 0
        if marker == 0x05:
            return None
        return self._other0(marker, start, depth)

    cdef object _other0(self, int marker, const unsigned char *start, Py_ssize_t depth):
        cdef int64_t size
        cdef Py_ssize_t index
        cdef object value
        if marker == 0x06 or marker == 0x0D:
            return undefined
        if marker == 0x03 or marker == 0x0A or marker == 0x08 or marker == 0x10:
            if depth >= self._max_depth:
                raise self._too_deep(start - self.base)
            if marker == 0x03:
                return self._object0(start, depth + 1)
            if marker == 0x0A:
                return self._array0(start, depth + 1)
            if marker == 0x08:
                return self._ecma0(start, depth + 1)
            return self._typed0(start, depth + 1)
        if marker == 0x07:
            if self.end - self.p < 2:
                raise self._ends_here(2)
            index = self.p[0] << 8 | self.p[1]
            self.p += 2
            if index >= self.slots.count:
                raise self._no_slot(index, self.slots.count, "reference", "objects", start - self.base)
            if self.slots.items[index] == PENDING:
                raise DecodeError(f"reference {index} is to an object that is not complete", start - self.base)
            self.references += 1
            if self.plain:
                self._referred(self.slots.items[index])
            return <object>self.slots.items[index]
        if marker == 0x0B:
            value = self._date()
            if self.end - self.p < 2:
                raise self._ends_here(2)
            self.p += 2
            return value
        if marker == 0x0C or marker == 0x0F:
            size = self._u32()
            value = self._text(size)
            if marker == 0x0F:
                value = Xml(value, True)
                add(&self.slots, <PyObject *>value)
            return value
        if marker == 0x11:
            self.standing = 0
            return self._value3(depth)
        if marker == 0x09:
            raise DecodeError("an end of object (09) where a value is expected", start - self.base)
        if marker == 0x04 or marker == 0x0E:
            raise DecodeError(f"0x{marker:02X} is reserved in AMF0 and never sent", start - self.base)
        raise DecodeError(f"0x{marker:02X} is no marker of AMF0", start - self.base)

    cdef object _array0(self, const unsigned char *start, Py_ssize_t depth):
        """A strict array (AMF0 specification, 2.12)."""
        cdef int64_t i, count = self._u32()
        cdef PyObject *found
        cdef PyObject *item
        cdef object items, value
        cdef const unsigned char *p
        if count > self.end - self.p:
            raise self._too_long("an array", count)
        self._charge(count, start)
        found = amf_roomy_list(count)
        items = <object>found
        Py_DECREF(found)
        if self.counted or depth > 1:
            add(&self.slots, found)
        for i in range(count):
            value = self._value0(depth)
            item = <PyObject *>value
            Py_INCREF(item)
            amf_append_new(found, item)
        return items

    cdef object _object0(self, const unsigned char *start, Py_ssize_t depth):
        """An anonymous object (AMF0 specification, 2.5)."""
        cdef PyObject *found = PyDict_New()
        cdef object members = <object>found
        Py_DECREF(found)
        add(&self.slots, found)
        self._members0(found, depth)
        return members

    cdef int _members0(self, PyObject *members, Py_ssize_t depth) except -1:
        cdef object name, value
        while True:
            name = self._name()
            if name is None:
                return 0
            value = self._value0(depth)
            PyDict_SetItem(members, <PyObject *>name, <PyObject *>value)

    cdef object _typed0(self, const unsigned char *start, Py_ssize_t depth):
        """A typed object (AMF0 specification, 2.18)."""
        cdef object alias = self._text16()
        cdef object plan = self._classes.plan_for(alias) if alias else None
        cdef object members, instance
        cdef Py_ssize_t slot = self.slots.count
        if plan is not None and not plan.form:
            members = {}
            instance = self._made(plan, start)
            add(&self.slots, <PyObject *>instance)
            self._members0(<PyObject *>members, depth)
            instance = self._finished(plan, instance, members, start)
            put(&self.slots, slot, <PyObject *>instance)
            return instance
        members = TypedObject(alias)
        add(&self.slots, <PyObject *>members)
        self._members0(<PyObject *>members, depth)
        if self.plain and plan is not None and plan.form == FORM_WRAPPER and "source" in members:
            instance = members["source"]
            put(&self.slots, slot, <PyObject *>instance)
            return instance
        return members

    cdef object _ecma0(self, const unsigned char *start, Py_ssize_t depth):
        """An ECMA array (AMF0 specification, 2.10); its declared count is kept and not believed."""
        cdef object array = EcmaArray(count=self._u32())
        cdef object guess = self._guess(array, start)
        cdef object name, value
        cdef Py_ssize_t slot = self.slots.count
        add(&self.slots, <PyObject *>guess)
        while True:
            name = self._name()
            if name is None:
                break
            value = self._value0(depth)
            array[index_key(name)] = value
        return self._becomes(&self.slots, slot, array, guess, start)

    cdef object _name(self):
        """The name of the next member, or None where the object ends: an empty name with 09 behind it.

        An empty name with any other marker behind it is a member named "", which servers do send.
        """
        cdef const unsigned char *start = self.p
        cdef Py_ssize_t size
        cdef object name
        cdef Key *key
        if self.end - start < 2:
            raise self._ends(self._at(), 2, "object")
        size = start[0] << 8 | start[1]
        self.p = start + 2
        if not size:
            if self.p >= self.end:
                raise self._ends(self._at(), 1, "object")
            if self.p[0] == 0x09:
                self.p += 1
                return None
            name = ""
        elif size <= KEY_MAX and size <= self.end - self.p:
            if self.keys == NULL:
                self.keys = <Key *>PyMem_Calloc(KEYS, sizeof(Key))
                if self.keys == NULL:
                    raise MemoryError()
            key = &self.keys[amf_key_hash(self.p, size) & (KEYS - 1)]
            if key.text != NULL and key.size == size and memcmp_equal(key.data, self.p, size):
                name = <object>key.text
                self.p += size
            else:
                # `data` points into the input, which lives as long as the decoder
                name = self._text(size)
                Py_XDECREF(key.text)
                Py_INCREF(<PyObject *>name)
                key.text = <PyObject *>name
                key.data = <const char *>(self.p - size)
                key.size = size
        else:
            name = self._text(size)
        self._charge(1, start)
        return name


cdef object index_key(str text):
    """A key of an associative array: an int where it is an array index in its canonical form."""
    cdef Py_ssize_t size
    cdef const char *data
    cdef int64_t number = 0
    cdef Py_ssize_t i
    if len(text) > 10 or not text.isascii():
        return text
    data = PyUnicode_AsUTF8AndSize(<PyObject *>text, &size)
    if not size or data[0] == c"0" and size > 1:
        return text
    for i in range(size):
        if not c"0" <= data[i] <= c"9":
            return text
        number = number * 10 + (data[i] - c"0")
    return number if number < INDEX_END else text
