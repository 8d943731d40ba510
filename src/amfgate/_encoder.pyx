# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: embedsignature=True, embedsignature.format=clinic, nonecheck=False
"""The encoder, compiled: the twin of `_encoder_py.py`, byte for byte and error for error.

One object holds everything: the buffer (a bytes object that grows in place and is handed out without a copy), the string
table, the object table, the columns of adaptive strings.  A value is written by one switch on its type; containers
recurse in C, which `max_depth` bounds.  What is needed once in a while is Python that both twins share (`_rare.py`).

Strings are found by pointer in a small cache of those met last, then by a cheap hash over their length and some of
their bytes, in a table of our own.  A client that could choose strings to collide makes a probe run long, and past 32
probes the table is built again with the string's own, keyed hash.

Objects are found by pointer.  An object with one reference belongs to the container it was found in and cannot be
met a second time, so it is only counted and kept alive (`LAZY`), not hashed.  That holds while no code of the
user's runs: a property, a `default` function or an iterator can lead to anything.  As soon as one has run, those
objects are hashed after all, and all further ones at once (`careful`).  Without a GIL it is so from the start.

Where an error happens is known by the frames: one for each open container, with the place in it, written as the
loops go on.  The path is made from them when an error is raised, and not before.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.datetime cimport (
    PyDateTime_DATE_GET_HOUR,
    PyDateTime_DATE_GET_MICROSECOND,
    PyDateTime_DATE_GET_MINUTE,
    PyDateTime_DATE_GET_SECOND,
    PyDateTime_GET_DAY,
    PyDateTime_GET_MONTH,
    PyDateTime_GET_YEAR,
    import_datetime,
)
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc, PyMem_Realloc
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t, uintptr_t
from libc.string cimport memcmp, memcpy, memset

import datetime as _datetime

from . import kinds as _kinds
from ._rare import (
    NeedsAvmPlus,
    alias_text,
    as_object,
    at_work,
    big_int,
    ecma_count,
    empty_name,
    entries,
    explained,
    failed_before,
    is_object,
    key_text,
    listed,
    mapped,
    members_of,
    milliseconds,
    not_at_work,
    packed,
    plain,
    reference_marker,
    row_of,
    rows_of,
    split,
    step,
    too_deep,
    too_long,
    too_long_for_amf0,
    too_long_for_key,
    too_many,
    too_many_externals,
    too_many_members,
    too_many_objects,
    unwrapped,
    utf8,
)
from ._wire import DEPTH_ALONE, VECTOR_MARKERS, check_options
from .classes import default_registry
from .dataio import DataOutput
from .errors import EncodeError
from .types import Vector

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    #if defined(_MSC_VER)
      #include <stdlib.h>
      #define AMF_SWAP64(x) _byteswap_uint64(x)
      #define AMF_LIKELY(x) (x)
    #else
      #define AMF_SWAP64(x) __builtin_bswap64(x)
      #define AMF_LIKELY(x) __builtin_expect(!!(x), 1)
    #endif
    #ifdef WORDS_BIGENDIAN
      #undef AMF_SWAP64
      #define AMF_SWAP64(x) (x)
    #endif
    #ifdef Py_GIL_DISABLED
      #define AMF_CAREFUL 1
    #else
      #define AMF_CAREFUL 0
    #endif

    static inline unsigned char *amf_put_double(unsigned char *p, double d) {
        uint64_t bits;
        memcpy(&bits, &d, 8);
        bits = AMF_SWAP64(bits);
        memcpy(p, &bits, 8);
        return p + 8;
    }

    /* A U29, AMF3 specification 1.3.1. */
    static inline unsigned char *amf_put_u29(unsigned char *p, uint32_t n) {
        if (AMF_LIKELY(n < 0x80)) { p[0] = (unsigned char)n; return p + 1; }
        if (n < 0x4000) {
            p[0] = (unsigned char)(n >> 7 | 0x80);
            p[1] = (unsigned char)(n & 0x7F);
            return p + 2;
        }
        if (n < 0x200000) {
            p[0] = (unsigned char)(n >> 14 | 0x80);
            p[1] = (unsigned char)((n >> 7 & 0x7F) | 0x80);
            p[2] = (unsigned char)(n & 0x7F);
            return p + 3;
        }
        p[0] = (unsigned char)(n >> 22 | 0x80);
        p[1] = (unsigned char)((n >> 15 & 0x7F) | 0x80);
        p[2] = (unsigned char)((n >> 8 & 0x7F) | 0x80);
        p[3] = (unsigned char)n;
        return p + 4;
    }

    static inline uint64_t amf_load64(const char *p) { uint64_t v; memcpy(&v, p, 8); return v; }
    static inline uint32_t amf_load32(const char *p) { uint32_t v; memcpy(&v, p, 4); return v; }

    /* Cheap, not keyed: length, both ends and the middle.  Long probes switch to the string's own hash. */
    static inline uint32_t amf_hash(const char *p, size_t n) {
        uint64_t a, b, h;
        if (n >= 8) {
            a = amf_load64(p);
            b = amf_load64(p + n - 8);
            if (n > 16) b ^= amf_load64(p + n / 2 - 4) * 0x9E3779B97F4A7C15u;
        } else if (n >= 4) {
            a = amf_load32(p);
            b = amf_load32(p + n - 4);
        } else {
            a = (unsigned char)p[0] | (uint64_t)(unsigned char)p[n >> 1] << 8;
            b = (unsigned char)p[n - 1];
        }
        h = (a ^ (uint64_t)n * 0xC2B2AE3D27D4EB4Fu) * 0x9E3779B97F4A7C15u;
        h ^= h >> 32;
        h = (h ^ b) * 0xFF51AFD7ED558CCDu;
        return (uint32_t)(h >> 32);
    }

    /* Short copies inline: most strings are shorter than the call of memcpy is long.  Both ends, overlapping. */
    static inline void amf_copy(unsigned char *to, const char *from, size_t n) {
        if (n >= 8) {
            if (n <= 16) {
                uint64_t a = amf_load64(from), b = amf_load64(from + n - 8);
                memcpy(to, &a, 8);
                memcpy(to + n - 8, &b, 8);
            } else {
                memcpy(to, from, n);
            }
        } else if (n >= 4) {
            uint32_t a = amf_load32(from), b = amf_load32(from + n - 4);
            memcpy(to, &a, 4);
            memcpy(to + n - 4, &b, 4);
        } else if (n) {
            to[0] = (unsigned char)from[0];
            to[n >> 1] = (unsigned char)from[n >> 1];
            to[n - 1] = (unsigned char)from[n - 1];
        }
    }

    static inline int amf_equal(const char *a, const char *b, size_t n) {
        if (n >= 8) {
            if (amf_load64(a) != amf_load64(b) || amf_load64(a + n - 8) != amf_load64(b + n - 8)) return 0;
            return n <= 16 || memcmp(a + 8, b + 8, n - 16) == 0;
        }
        if (n >= 4) return amf_load32(a) == amf_load32(b) && amf_load32(a + n - 4) == amf_load32(b + n - 4);
        return a[0] == b[0] && a[n >> 1] == b[n >> 1] && a[n - 1] == b[n - 1];
    }

    /* An int of one digit, which is nearly every int there is. */
    static inline int amf_small_int(PyObject *v, int64_t *out) {
    #if PY_VERSION_HEX >= 0x030C0000
        if (PyUnstable_Long_IsCompact((PyLongObject *)v)) {
            *out = (int64_t)PyUnstable_Long_CompactValue((PyLongObject *)v);
            return 1;
        }
    #else
        Py_ssize_t size = Py_SIZE(v);
        if (size == 1) { *out = (int64_t)((PyLongObject *)v)->ob_digit[0]; return 1; }
        if (size == 0) { *out = 0; return 1; }
        if (size == -1) { *out = -(int64_t)((PyLongObject *)v)->ob_digit[0]; return 1; }
    #endif
        return 0;
    }

    static inline int amf_ascii(PyObject *s, const char **data, Py_ssize_t *size) {
        if (AMF_LIKELY(PyUnicode_IS_COMPACT_ASCII(s))) {
            *data = (const char *)((PyASCIIObject *)s + 1);
            *size = ((PyASCIIObject *)s)->length;
            return 1;
        }
        return 0;
    }

    static inline PyTypeObject *amf_type(PyObject *v) { return Py_TYPE(v); }
    static inline int amf_shared(PyObject *v) { return Py_REFCNT(v) > 1; }
    #define AMF_LIST_SIZE(v) PyList_GET_SIZE(v)
    #define AMF_LIST_ITEM(v, i) PyList_GET_ITEM(v, i)
    #define AMF_TUPLE_SIZE(v) PyTuple_GET_SIZE(v)
    #define AMF_TUPLE_ITEM(v, i) PyTuple_GET_ITEM(v, i)
    #define AMF_DICT_SIZE(v) PyDict_GET_SIZE(v)
    #define AMF_FLOAT(v) PyFloat_AS_DOUBLE(v)
    #define AMF_TZINFO(v) PyDateTime_DATE_GET_TZINFO(v)
    #define AMF_LENGTH(v) PyUnicode_GET_LENGTH(v)
    """
    ctypedef struct PyTypeObject:
        pass
    const int AMF_CAREFUL
    unsigned char *amf_put_double(unsigned char *p, double d) noexcept nogil
    unsigned char *amf_put_u29(unsigned char *p, uint32_t n) noexcept nogil
    uint32_t amf_hash(const char *p, size_t n) noexcept nogil
    void amf_copy(unsigned char *to, const char *source, size_t n) noexcept nogil
    bint amf_equal(const char *a, const char *b, size_t n) noexcept nogil
    uint64_t AMF_SWAP64(uint64_t x) noexcept nogil
    bint amf_small_int(PyObject *v, int64_t *out) noexcept
    bint amf_ascii(PyObject *s, const char **data, Py_ssize_t *size) noexcept
    PyTypeObject *amf_type(PyObject *v) noexcept
    bint amf_shared(PyObject *v) noexcept
    Py_ssize_t AMF_LIST_SIZE(PyObject *v) noexcept
    PyObject *AMF_LIST_ITEM(PyObject *v, Py_ssize_t i) noexcept
    Py_ssize_t AMF_TUPLE_SIZE(PyObject *v) noexcept
    PyObject *AMF_TUPLE_ITEM(PyObject *v, Py_ssize_t i) noexcept
    Py_ssize_t AMF_DICT_SIZE(PyObject *v) noexcept
    double AMF_FLOAT(PyObject *v) noexcept
    PyObject *AMF_TZINFO(PyObject *v) noexcept
    Py_ssize_t AMF_LENGTH(PyObject *v) noexcept

cdef extern from "Python.h":
    PyTypeObject PyUnicode_Type, PyLong_Type, PyFloat_Type, PyList_Type, PyTuple_Type, PyDict_Type, PyBytes_Type
    PyTypeObject PyFrozenSet_Type
    PyObject *Py_None
    PyObject *Py_True
    PyObject *Py_False
    void Py_INCREF(PyObject *)
    void Py_DECREF(PyObject *)
    void Py_XDECREF(PyObject *)
    PyObject *PyBytes_FromStringAndSize(const char *, Py_ssize_t) except NULL
    int _PyBytes_Resize(PyObject **, Py_ssize_t) except -1
    int PyDict_Next(PyObject *, Py_ssize_t *, PyObject **, PyObject **)
    PyObject *PyDict_GetItemWithError(PyObject *, PyObject *) except? NULL
    const char *PyUnicode_AsUTF8AndSize(PyObject *, Py_ssize_t *) except NULL
    long long PyLong_AsLongLongAndOverflow(PyObject *, int *) except? -1
    Py_hash_t PyObject_Hash(PyObject *) except? -1
    PyObject *PyObject_GetAttr(PyObject *, PyObject *) except NULL
    PyObject *PyTuple_New(Py_ssize_t) except NULL
    void PyTuple_SET_ITEM(PyObject *, Py_ssize_t, PyObject *)
    int PyObject_GetBuffer(object, Py_buffer *, int) except -1
    void PyBuffer_Release(Py_buffer *)
    int PyBUF_C_CONTIGUOUS, PyBUF_FORMAT

import_datetime()

# Kinds as C numbers; kinds.py holds them for both twins.
cdef enum:
    UNDEFINED = 1
    BYTES = 9
    DATETIME = 10
    DATE = 11
    INVALID_DATE = 12
    XML = 13
    ELEMENT = 14
    ARRAY = 15
    VECTOR = 16
    LIST = 17
    ITERABLE = 18
    DICT = 19
    MAPPING = 20
    ECMA = 21
    TYPED = 22
    PLAN = 23
    DICTIONARY = 24
    ROWS = 25

if (
    _kinds.UNDEFINED, _kinds.BYTES, _kinds.DATETIME, _kinds.DATE, _kinds.INVALID_DATE, _kinds.XML, _kinds.ELEMENT,
    _kinds.ARRAY, _kinds.VECTOR, _kinds.LIST, _kinds.ITERABLE, _kinds.DICT, _kinds.MAPPING, _kinds.ECMA,
    _kinds.TYPED, _kinds.PLAN, _kinds.DICTIONARY, _kinds.ROWS,
) != (
    UNDEFINED, BYTES, DATETIME, DATE, INVALID_DATE, XML, ELEMENT, ARRAY, VECTOR, LIST, ITERABLE, DICT, MAPPING, ECMA,
    TYPED, PLAN, DICTIONARY, ROWS,
):
    raise ImportError("amfgate._encoder was compiled for another version of amfgate")

# How a container's places are named in a path; _rare.step knows the same numbers.
cdef enum:
    IN_ROOT = 0
    IN_LIST = 1
    IN_SEALED = 2
    IN_PAIRS = 3
    IN_ENTRIES = 5
    IN_SOURCE = 6
    IN_ROWS = 7

# The forms of a Plan; classes.py.
cdef enum:
    FORM_MEMBERS = 0
    FORM_WRAPPER = 1
    FORM_EXTERNAL = 2

cdef enum:
    # Limits of the format, as in _wire.py
    LENGTH_MAX = 0xFFFFFFF
    U29_MAX = 0x1FFFFFFF
    INT29_MIN = -0x10000000
    INT29_MAX = 0xFFFFFFF
    AMF0_SLOTS = 65536
    AMF0_KEY_MAX = 65535
    EXTERNAL_DEPTH = 32
    COLUMN_PLACES = 32
    COLUMN_DEPTHS = 16
    COLUMN_SAMPLE = 64
    COLUMN_WORTH = 8
    # Sizes of our own
    FIRST_BUFFER = 512
    FIRST_TABLE = 64
    FIRST_FRAMES = 16
    RECENT = 64  # strings met last, by pointer: as many as a wide row has keys and repeated values
    PROBES = 32  # how long a probe may run before the strings' own hash takes over
    ALWAYS = -1  # a tag: the items of an array
    NO_TAG = -(1 << 30)

cdef int64_t EXACT_INT = <int64_t>1 << 53
cdef int64_t NO_LIMIT = <int64_t>1 << 62
cdef uintptr_t LAZY = 1  # set in a kept pointer whose object is not hashed

cdef PyTypeObject *DATETIME_TYPE = <PyTypeObject *><PyObject *>_datetime.datetime
cdef object _UTC = _datetime.timezone.utc
cdef object _kind_of = _kinds.kind_of
cdef object _array_kind = _kinds.array_kind
cdef object _array_items = _kinds.array_items

cdef struct StringSlot:
    PyObject *text
    uint32_t hash
    uint32_t index

cdef struct Recent:
    PyObject *text
    uint32_t index

cdef struct ObjectSlot:
    PyObject *value
    uint32_t index

cdef struct Objects:
    # A table by identity.  `kept` holds a reference to every object that took a slot, in the order of the slots.
    ObjectSlot *slots
    size_t mask
    size_t used
    PyObject **kept
    size_t count
    size_t room
    size_t hashed  # all kept ones before this are hashed, or never will be
    size_t lazy  # how many are LAZY
    size_t numbered  # those at or past this number have no slot to refer to

cdef struct Column:
    int64_t tag
    uint32_t seen
    uint32_t found
    bint looking

cdef struct Frame:
    PyObject *container  # what names the places; kept alive by the tables or by `_temporaries`
    PyObject *value  # the container as the user knows it
    Py_ssize_t place
    int mode


cdef void free_objects(Objects *table) noexcept:
    cdef size_t i
    for i in range(table.count):
        Py_XDECREF(<PyObject *>(<uintptr_t>table.kept[i] & ~LAZY))
    PyMem_Free(table.kept)
    PyMem_Free(table.slots)
    memset(table, 0, sizeof(Objects))


cdef int insert_object(Objects *table, PyObject *value, uint32_t index) except -1:
    """Add an object that is not in the table."""
    cdef ObjectSlot *old
    cdef size_t size, i, at
    if table.used * 2 >= table.mask:
        old = table.slots
        size = (table.mask + 1) * 2 if old != NULL else FIRST_TABLE
        table.slots = <ObjectSlot *>PyMem_Calloc(size, sizeof(ObjectSlot))
        if table.slots == NULL:
            table.slots = old
            raise MemoryError()
        if old != NULL:
            for i in range(table.mask + 1):
                if old[i].value != NULL:
                    at = (<uintptr_t>old[i].value >> 4) * <uintptr_t>0x9E3779B97F4A7C15u >> 20 & (size - 1)
                    while table.slots[at].value != NULL:
                        at = (at + 1) & (size - 1)
                    table.slots[at] = old[i]
            PyMem_Free(old)
        table.mask = size - 1
    at = (<uintptr_t>value >> 4) * <uintptr_t>0x9E3779B97F4A7C15u >> 20 & table.mask
    while table.slots[at].value != NULL:
        at = (at + 1) & table.mask
    table.slots[at].value = value
    table.slots[at].index = index
    table.used += 1
    return 0


cdef inline int64_t find_object(Objects *table, PyObject *value) noexcept:
    """The slot of an object, or -1."""
    cdef size_t at
    if table.slots == NULL:
        return -1
    at = (<uintptr_t>value >> 4) * <uintptr_t>0x9E3779B97F4A7C15u >> 20 & table.mask
    while table.slots[at].value != NULL:
        if table.slots[at].value == value:
            return table.slots[at].index
        at = (at + 1) & table.mask
    return -1


cdef int hash_lazy_ones(Objects *table) except -1:
    """Code of the user's has run: objects that could not be met again now can be."""
    cdef size_t i
    for i in range(table.hashed, table.count):
        if <uintptr_t>table.kept[i] & LAZY:
            table.kept[i] = <PyObject *>(<uintptr_t>table.kept[i] & ~LAZY)
            if i < table.numbered:
                insert_object(table, table.kept[i], <uint32_t>i)
    table.hashed = table.count
    table.lazy = 0
    return 0


cdef inline int keep(Objects *table, PyObject *value, bint lazy) except -1:
    """Give an object the next slot, and keep it alive; NULL takes a slot for what has no object."""
    cdef PyObject **bigger
    cdef size_t room
    if table.count == table.room:
        room = table.room * 2 if table.room else FIRST_TABLE
        bigger = <PyObject **>PyMem_Realloc(table.kept, room * sizeof(PyObject *))
        if bigger == NULL:
            raise MemoryError()
        table.kept = bigger
        table.room = room
    if value != NULL:
        Py_INCREF(value)
        if lazy:
            table.lazy += 1
            value = <PyObject *>(<uintptr_t>value | LAZY)
    table.kept[table.count] = value
    table.count += 1
    return 0


cdef inline Column *column_at(Column *columns, Py_ssize_t place, int64_t tag) noexcept:
    """The column of a place, started anew when something else names its values; NULL where all strings are looked up."""
    cdef Column *column
    if columns == NULL:
        return NULL
    column = columns + (place if place < COLUMN_PLACES - 1 else COLUMN_PLACES - 1)
    if column.tag != tag:
        column.tag = tag
        column.seen = 0
        column.found = 0
        column.looking = True
    return column


cdef inline void count_lookup(Column *column, bint found) noexcept:
    column.seen += 1
    column.found += found
    if column.seen == COLUMN_SAMPLE:
        column.looking = column.found * COLUMN_WORTH >= COLUMN_SAMPLE
        column.seen = 0
        column.found = 0


cdef double date_milliseconds(PyObject *value, int kind, bint *ran) except? -1.5:
    """The time of a date; what is not naive and not in UTC asks its tzinfo, which may be code of the user's."""
    cdef object moment = <object>value
    cdef int64_t year, month, day, era, days, micros
    if kind == DATETIME and amf_type(value) == DATETIME_TYPE and (
        AMF_TZINFO(value) == Py_None or AMF_TZINFO(value) == <PyObject *>_UTC
    ):
        # days since the epoch, counted in eras of 400 years that begin on the first of March
        year, month, day = PyDateTime_GET_YEAR(moment), PyDateTime_GET_MONTH(moment), PyDateTime_GET_DAY(moment)
        year -= month <= 2
        era = year // 400 if year >= 0 else -1
        days = (year - era * 400) * 365 + (year - era * 400) // 4 - (year - era * 400) // 100
        days += (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1 + era * 146097 - 719468
        micros = (
            (days * 24 + PyDateTime_DATE_GET_HOUR(moment)) * 60 + PyDateTime_DATE_GET_MINUTE(moment)
        ) * 60 + PyDateTime_DATE_GET_SECOND(moment)
        micros = micros * 1000000 + PyDateTime_DATE_GET_MICROSECOND(moment)
        if -EXACT_INT <= micros <= EXACT_INT:
            return <double>micros / 1000.0
        return milliseconds(moment, kind)  # rounded once, as the twin does
    ran[0] = True
    return milliseconds(moment, kind)


cdef class Encoder:
    """Encode values one after another, as parts of one stream.

    Options are those of `amfgate.dumps`.  The tables of strings, objects and traits go on from call to call, as
    they do within a shared object or a packet's body.  After an EncodeError they no longer match what was
    returned, so the encoder refuses further work.
    """

    cdef readonly int version
    cdef object _classes, _kinds, _default, _big_ints, _decimals
    cdef object _max_values
    cdef Py_ssize_t _max_depth
    cdef bint _adaptive
    # the buffer
    cdef PyObject *out
    cdef unsigned char *p
    cdef unsigned char *end
    # strings
    cdef StringSlot *strings
    cdef size_t string_mask
    cdef size_t string_used
    cdef uint32_t string_count
    cdef bint keyed
    cdef dict _odd_strings  # with lone surrogates: text -> index
    cdef bytes _odd_data
    cdef Recent recent[RECENT]
    # objects and traits
    cdef Objects objects
    cdef Objects slots  # AMF0's
    cdef bint careful
    cdef dict _traits
    cdef dict _plan_traits
    cdef int64_t plain_traits  # of a dict, or -1
    cdef dict _made
    # where we are
    cdef Column *columns[COLUMN_DEPTHS + 1]
    cdef Frame *frames
    cdef Py_ssize_t frame_room
    cdef Py_ssize_t level
    cdef Py_ssize_t base0  # the frames of the AMF0 value at work begin behind this one
    cdef list _temporaries
    cdef int64_t values
    cdef int external
    cdef bint whole
    cdef int64_t repeats
    cdef int64_t repeated
    cdef bint failed
    cdef bint busy
    cdef object _broken

    def __cinit__(
        self,
        *,
        version=3,
        classes=None,
        limits=None,
        strings="adaptive",
        default=None,
        big_ints="error",
        decimals="float",
    ):
        if not (version is 3 and limits is None and strings == "adaptive" and big_ints == "error" and decimals == "float"):
            check_options(version, limits, strings=strings, big_ints=big_ints, decimals=decimals)
        if limits is None:
            limits = DEPTH_ALONE
        self.version = version
        self._classes = default_registry if classes is None else classes
        self._kinds = self._classes.kinds
        self._max_depth = limits.max_depth
        self._max_values = limits.max_values
        self._adaptive = strings == "adaptive"
        self._default = default
        self._big_ints = big_ints
        self._decimals = decimals
        self.plain_traits = -1
        self.slots.numbered = AMF0_SLOTS
        self.objects.numbered = <size_t>-1
        self.careful = AMF_CAREFUL

    def __dealloc__(self):
        cdef size_t i
        cdef int depth
        Py_XDECREF(self.out)
        if self.strings != NULL:
            for i in range(self.string_mask + 1):
                Py_XDECREF(self.strings[i].text)
            PyMem_Free(self.strings)
        free_objects(&self.objects)
        free_objects(&self.slots)
        for depth in range(COLUMN_DEPTHS + 1):
            PyMem_Free(self.columns[depth])
        PyMem_Free(self.frames)

    def encode(self, value):
        """The bytes of one value.

        EncodeError when it cannot be sent exactly; its path starts at `$`, this value.
        """
        self._begin()
        try:
            if self.version == 3:
                self._value3(<PyObject *>value, NULL, 0, 0)
            else:
                self._value0(<PyObject *>value)
        except BaseException as error:
            self._fail(error)
        return self._finish()

    def encode_body(self, value, *, avmplus, arguments=False, counted=True, whole=False, repeats=0):
        """The value of one body or header of a remoting packet, which starts in AMF0.

        avmplus: the peer reads AMF3, so anything but null, undefined, booleans, numbers and text goes behind one `11`.
        arguments: a list is written as AMF0's strict array, and `avmplus` applies to each item on its own.
        counted: that array takes an AMF0 slot, as clients of ActionScript 2 number them.
        whole: without `avmplus`, a value that holds bytes, a Vector, an externalizable object or a Dictionary that is
            no object is written behind one `11` as a whole: a client may misread AMF0 that follows a nested one.
        repeats: in AMF0, a value met again is written out again until so many values were written twice; after
            that, and in a cycle, it becomes a reference.
        """
        self._begin()
        self.whole, self.repeats = whole and not avmplus, repeats
        try:
            try:
                if arguments and (type(value) is list or type(value) is tuple):
                    self._arguments(value, avmplus, counted)
                elif avmplus:
                    self._avmplus(value)
                else:
                    self._value0(<PyObject *>value)
            except NeedsAvmPlus:  # nothing of AMF3 was written yet, so its tables are as they were
                self.busy = False
                self._begin()
                free_objects(&self.slots)
                self.slots.numbered = AMF0_SLOTS
                self._put(0x11)
                self._value3(<PyObject *>value, NULL, 0, 0)
        except BaseException as error:
            self._fail(error)
        return self._finish()

    def encode_string(self, text):
        """A text without marker, through the string table: a key of an AMF3 shared object."""
        if type(text) is not str:
            raise TypeError(f"encode_string() takes a str, not {type(text).__name__}")
        self._begin()
        try:
            self._name3(text)
        except BaseException as error:
            self._fail(error)
        return self._finish()

    cdef int _begin(self) except -1:
        cdef int depth, place
        if self.failed:
            raise failed_before()
        if self.busy:
            raise at_work()
        Py_XDECREF(self.out)
        self.out = NULL
        self.out = PyBytes_FromStringAndSize(NULL, FIRST_BUFFER)
        self.p = <unsigned char *>PyBytes_AS_STRING(<object>self.out)
        self.end = self.p + FIRST_BUFFER
        if self._adaptive:
            for depth in range(1, COLUMN_DEPTHS + 1):
                if self.columns[depth] != NULL:
                    for place in range(COLUMN_PLACES):
                        self.columns[depth][place].tag = NO_TAG
        if self.frames == NULL:
            self.frames = <Frame *>PyMem_Malloc(FIRST_FRAMES * sizeof(Frame))
            if self.frames == NULL:
                raise MemoryError()
            self.frame_room = FIRST_FRAMES
        self.level = 0
        self.base0 = 0
        self.frames[0].mode = IN_ROOT
        self.frames[0].place = 0
        self.frames[0].container = NULL
        self.frames[0].value = NULL
        self._temporaries = None
        # what was met in an earlier call can be met again by what the caller did since
        if self.objects.count or self.slots.count:
            self.careful = True
        self.values = (NO_LIMIT if self._max_values is None else <int64_t>self._max_values) - 1
        self.whole, self.repeats, self.repeated = False, 0, 0
        self.busy = True
        return 0

    cdef object _finish(self):
        cdef object result
        cdef Py_ssize_t size = self.p - <unsigned char *>PyBytes_AS_STRING(<object>self.out)
        self.busy = False
        self.p = self.end = NULL
        _PyBytes_Resize(&self.out, size)
        result = <object>self.out
        Py_DECREF(self.out)
        self.out = NULL
        return result

    cdef str _path(self, Py_ssize_t first):
        """The path from a frame to where we are."""
        cdef Py_ssize_t i
        cdef list steps = []
        for i in range(first, self.level + 1):
            container = None if self.frames[i].container == NULL else <object>self.frames[i].container
            steps.append(step(self.frames[i].mode, self.frames[i].place, container))
        return "".join(steps)

    cdef int _fail(self, error) except -1:
        self.failed = True
        self.busy = False
        self.p = self.end = NULL
        Py_XDECREF(self.out)
        self.out = NULL
        if isinstance(error, Exception) and not isinstance(error, (MemoryError, NeedsAvmPlus)):
            cause = error.__cause__
            found = explained(error, self._path(0))
            found.path = "$" + found.path
            found.args = (found.message, found.path, found.hint)
            if found is not error:
                raise found from error
            raise found from cause
        raise error

    # --- what externalizable classes use, through DataOutput --------------------------------------------------------

    def put(self, data):
        """Write bytes as they are."""
        if not self.busy:
            raise not_at_work()
        cdef bytes exact = bytes(data)
        self._raw(PyBytes_AS_STRING(exact), PyBytes_GET_SIZE(exact))

    def write_object(self, value):
        """Write one AMF3 value inside an externalizable's payload."""
        if not self.busy:
            raise not_at_work()
        cdef Py_ssize_t base = self.level
        try:
            self._charge(1)
            self._value3(<PyObject *>value, NULL, 0, 0)
        except BaseException as error:
            self._broken = error
            if isinstance(error, Exception) and not isinstance(error, MemoryError):
                # The frames inside are told now: the class may catch this, and go on from where it was.
                self._broken = explained(error, self._path(base + 1))
            self.level = base
            if self._broken is not error:
                raise self._broken from error
            raise

    # --- the buffer ---------------------------------------------------------------------------------------------------

    cdef int _grow(self, Py_ssize_t need) except -1:
        cdef Py_ssize_t used = self.p - <unsigned char *>PyBytes_AS_STRING(<object>self.out)
        cdef Py_ssize_t room = self.end - <unsigned char *>PyBytes_AS_STRING(<object>self.out)
        room += room if room < 1 << 20 else room >> 1
        if room < used + need:
            room = used + need
        _PyBytes_Resize(&self.out, room)
        self.p = <unsigned char *>PyBytes_AS_STRING(<object>self.out) + used
        self.end = <unsigned char *>PyBytes_AS_STRING(<object>self.out) + room
        return 0

    cdef inline unsigned char *_room(self, Py_ssize_t need) except NULL:
        if self.end - self.p < need:
            self._grow(need)
        return self.p

    cdef inline int _put(self, unsigned char byte) except -1:
        if self.end == self.p:
            self._grow(1)
        self.p[0] = byte
        self.p += 1
        return 0

    cdef inline int _raw(self, const char *data, Py_ssize_t size) except -1:
        cdef unsigned char *p = self._room(size)
        amf_copy(p, data, size)
        self.p = p + size
        return 0

    cdef inline int _double(self, unsigned char marker, double number) except -1:
        cdef unsigned char *p = self._room(9)
        p[0] = marker
        self.p = amf_put_double(p + 1, number)
        return 0

    cdef int _head3(self, int marker, Py_ssize_t count, what) except -1:
        """A marker and a length or count, with the bit that says that it is no reference."""
        if count > LENGTH_MAX:
            raise too_long(what, count, LENGTH_MAX)
        cdef unsigned char *p = self._room(5)
        p[0] = marker
        self.p = amf_put_u29(p + 1, <uint32_t>(count << 1 | 1))
        return 0

    cdef inline int _reference3(self, int marker, uint32_t index) except -1:
        cdef unsigned char *p = self._room(5)
        p[0] = marker
        self.p = amf_put_u29(p + 1, index << 1)
        return 0

    # --- strings -----------------------------------------------------------------------------------------------------

    cdef int _utf8(self, PyObject *text, const char **data, Py_ssize_t *size) except -1:
        """Text that is not ASCII, as UTF-8 that lives as long as the text, or as `_odd_data` (1: it has lone surrogates)."""
        cdef bytes found
        try:
            data[0] = PyUnicode_AsUTF8AndSize(text, size)
            return 0
        except UnicodeEncodeError:
            pass
        found = utf8(<object>text)
        self._odd_data = found
        data[0] = PyBytes_AS_STRING(found)
        size[0] = PyBytes_GET_SIZE(found)
        return 1

    cdef int _rehash(self, size_t size, bint keyed) except -1:
        """The string table in a new size, or with the strings' own hashes."""
        cdef StringSlot *old = self.strings
        cdef StringSlot *new = <StringSlot *>PyMem_Calloc(size, sizeof(StringSlot))
        cdef size_t i, at
        cdef uint32_t hashed
        if new == NULL:
            raise MemoryError()
        if old != NULL:
            for i in range(self.string_mask + 1):
                if old[i].text != NULL:
                    hashed = old[i].hash
                    if keyed and not self.keyed:
                        hashed = <uint32_t>PyObject_Hash(old[i].text)
                    at = hashed & (size - 1)
                    while new[at].text != NULL:
                        at = (at + 1) & (size - 1)
                    new[at] = old[i]
                    new[at].hash = hashed
            PyMem_Free(old)
        self.strings = new
        self.string_mask = size - 1
        self.keyed = keyed
        return 0

    cdef int64_t _intern(self, PyObject *text, const char **data, Py_ssize_t *size) except -2:
        """The index of a string in the table; -1 when it was not there and is now, with its UTF-8.  Not for ""."""
        cdef uint32_t hashed
        cdef size_t at
        cdef int probes
        cdef const char *other
        cdef Py_ssize_t other_size
        cdef StringSlot *slot
        cdef Recent *recent = &self.recent[(<uintptr_t>text >> 4) & (RECENT - 1)]
        if recent.text == text:
            return recent.index
        if not amf_ascii(text, data, size):
            if self._utf8(text, data, size):
                return self._intern_odd(<object>text)
        if self.string_used * 2 >= self.string_mask:
            self._rehash((self.string_mask + 1) * 2 if self.strings != NULL else FIRST_TABLE, self.keyed)
        while True:
            hashed = <uint32_t>PyObject_Hash(text) if self.keyed else amf_hash(data[0], size[0])
            at = hashed & self.string_mask
            probes = 0
            while True:
                slot = &self.strings[at]
                if slot.text == NULL:
                    break
                if slot.text == text:
                    recent.text = text
                    recent.index = slot.index
                    return slot.index
                if slot.hash == hashed:
                    if not amf_ascii(slot.text, &other, &other_size):
                        other = PyUnicode_AsUTF8AndSize(slot.text, &other_size)
                    if other_size == size[0] and amf_equal(other, data[0], other_size):
                        return slot.index
                probes += 1
                if probes > PROBES and not self.keyed:
                    break
                at = (at + 1) & self.string_mask
            if slot.text == NULL:
                break
            self._rehash(self.string_mask + 1, True)
        Py_INCREF(text)
        slot.text = text
        slot.hash = hashed
        slot.index = self.string_count
        recent.text = text
        recent.index = self.string_count
        self.string_used += 1
        self.string_count += 1
        return -1

    cdef int64_t _intern_odd(self, str text) except -2:
        if self._odd_strings is None:
            self._odd_strings = {}
        index = self._odd_strings.get(text)
        if index is not None:
            return index
        self._odd_strings[text] = self.string_count
        self.string_count += 1
        return -1

    cdef int64_t _name(self, PyObject *text, what) except -1:
        """A name that is not "", without marker: through the string table; its index there."""
        cdef const char *data
        cdef Py_ssize_t size
        cdef unsigned char *p
        cdef int64_t index = self._intern(text, &data, &size)
        if index >= 0:
            p = self._room(4)
            self.p = amf_put_u29(p, <uint32_t>(index << 1))
            return index
        if size > LENGTH_MAX:
            raise too_long(what, size, LENGTH_MAX)
        p = self._room(4 + size)
        p = amf_put_u29(p, <uint32_t>(size << 1 | 1))
        amf_copy(p, data, size)
        self.p = p + size
        return self.string_count - 1

    cdef int _name3(self, str text) except -1:
        if text:
            self._name(<PyObject *>text, "text")
        else:
            self._put(0x01)
        return 0

    cdef inline int64_t _key3(self, PyObject *key) except -1:
        """A member name that is a non-empty str; its index is the tag of the column."""
        cdef Recent *recent = &self.recent[(<uintptr_t>key >> 4) & (RECENT - 1)]
        cdef unsigned char *p
        if recent.text == key:
            p = self._room(4)
            self.p = amf_put_u29(p, recent.index << 1)
            return recent.index
        return self._name(key, "a key")

    cdef inline int _text3(self, PyObject *text, Column *column) except -1:
        """A string value with its marker (AMF3 specification, 3.8)."""
        cdef const char *data
        cdef Py_ssize_t size
        cdef unsigned char *p
        cdef int64_t index = -1
        cdef Recent *recent
        if AMF_LENGTH(text) == 0:
            p = self._room(2)
            p[0] = 0x06
            p[1] = 0x01
            self.p = p + 2
            return 0
        if column == NULL or column.looking:
            recent = &self.recent[(<uintptr_t>text >> 4) & (RECENT - 1)]
            if recent.text == text:
                index = recent.index
            else:
                index = self._intern(text, &data, &size)
            if column != NULL:
                count_lookup(column, index >= 0)
            if index >= 0:
                p = self._room(5)
                p[0] = 0x06
                self.p = amf_put_u29(p + 1, <uint32_t>(index << 1))
                return 0
        else:
            if not amf_ascii(text, &data, &size):
                self._utf8(text, &data, &size)
            self.string_count += 1  # every reader gives it a number
        if size > LENGTH_MAX:
            raise too_long("text", size, LENGTH_MAX)
        p = self._room(5 + size)
        p[0] = 0x06
        p = amf_put_u29(p + 1, <uint32_t>(size << 1 | 1))
        amf_copy(p, data, size)
        self.p = p + size
        return 0

    # --- frames, columns, objects -----------------------------------------------------------------------------------

    cdef int _push(self, PyObject *value, PyObject *container, int mode) except -1:
        """One container deeper; what names its places is kept alive by the caller."""
        cdef Frame *bigger
        if self.level >= self._max_depth:
            raise too_deep(self._max_depth)
        if self.level + 1 == self.frame_room:
            bigger = <Frame *>PyMem_Realloc(self.frames, self.frame_room * 2 * sizeof(Frame))
            if bigger == NULL:
                raise MemoryError()
            self.frames = bigger
            self.frame_room *= 2
        self.level += 1
        self.frames[self.level].value = value
        self.frames[self.level].container = container
        self.frames[self.level].place = -1
        self.frames[self.level].mode = mode
        return 0

    cdef Column *_columns(self) except? NULL:
        """The columns at this depth; NULL where every string is looked up."""
        cdef int place
        if not self._adaptive or self.level > COLUMN_DEPTHS:
            return NULL
        if self.columns[self.level] == NULL:
            self.columns[self.level] = <Column *>PyMem_Malloc(COLUMN_PLACES * sizeof(Column))
            if self.columns[self.level] == NULL:
                raise MemoryError()
            for place in range(COLUMN_PLACES):
                self.columns[self.level][place].tag = NO_TAG
        return self.columns[self.level]

    cdef inline int _charge(self, int64_t count) except -1:
        self.values -= count
        if self.values < 0:
            raise too_many(self._most())
        return 0

    cdef int _hold(self, thing) except -1:
        """Keep what a path may have to name."""
        if self._temporaries is None:
            self._temporaries = []
        self._temporaries.append(thing)
        return 0

    cdef inline int64_t _meet(self, Objects *table, PyObject *value) except -2:
        """The slot of an object met before; -1 for a new one, which has one now."""
        cdef int64_t index
        if amf_shared(value) or self.careful:
            if self.careful and table.lazy:
                hash_lazy_ones(table)
            index = find_object(table, value)
            if index >= 0:
                return index
            if table.count < table.numbered:
                insert_object(table, value, <uint32_t>table.count)
            keep(table, value, False)
        else:
            keep(table, value, True)
        return -1

    cdef object _most(self):
        """The limit of values, as errors name it."""
        return NO_LIMIT if self._max_values is None else self._max_values

    cdef object _list_of(self, value):
        """The items of an iterable; one that can be read only once is read once."""
        if self._made is not None:
            known = self._made.get(id(value))
            if known is not None:
                return known[1]
        else:
            self._made = {}
        self.careful = True
        items = listed(value, self.values, self._most())
        self._made[id(value)] = value, items
        return items

    # --- AMF3 -----------------------------------------------------------------------------------------------------------

    cdef inline int _value3(self, PyObject *value, Column *columns, Py_ssize_t place, int64_t tag) except -1:
        """One value with its marker: the common scalars here, the rest in `_other3`."""
        cdef PyTypeObject *cls = amf_type(value)
        cdef int64_t number
        cdef unsigned char *p
        if cls == &PyUnicode_Type:
            return self._text3(value, column_at(columns, place, tag))
        if cls == &PyLong_Type:
            if amf_small_int(value, &number) and INT29_MIN <= number <= INT29_MAX:
                p = self._room(5)
                p[0] = 0x04
                self.p = amf_put_u29(p + 1, <uint32_t>number & U29_MAX)
                return 0
            return self._int3(value, columns, place, tag)
        if cls == &PyFloat_Type:
            return self._double(0x05, AMF_FLOAT(value))
        if value == Py_None:
            return self._put(0x01)
        if value == Py_True:
            return self._put(0x03)
        if value == Py_False:
            return self._put(0x02)
        return self._other3(value, cls, columns, place, tag)

    cdef int _int3(self, PyObject *value, Column *columns, Py_ssize_t place, int64_t tag) except -1:
        cdef int overflow = 0
        cdef long long number = PyLong_AsLongLongAndOverflow(value, &overflow)
        cdef unsigned char *p
        cdef object other
        if not overflow and -EXACT_INT <= number <= EXACT_INT:
            if INT29_MIN <= number <= INT29_MAX:
                p = self._room(5)
                p[0] = 0x04
                self.p = amf_put_u29(p + 1, <uint32_t>number & U29_MAX)
                return 0
            return self._double(0x05, <double>number)
        other = big_int(<object>value, self._big_ints)
        return self._value3(<PyObject *>other, columns, place, tag)

    cdef int _other3(self, PyObject *value, PyTypeObject *cls, Column *columns, Py_ssize_t place, int64_t tag) except -1:
        """A value that is no common scalar."""
        cdef int kind, marker
        cdef int64_t index
        cdef object payload = None
        cdef object other
        cdef PyObject *entry
        if cls == &PyDict_Type:
            kind, marker = DICT, 0x0A
        elif cls == &PyList_Type or cls == &PyTuple_Type:
            kind, marker = LIST, 0x09
        elif cls == DATETIME_TYPE:
            kind, marker = DATETIME, 0x08
        else:
            entry = PyDict_GetItemWithError(<PyObject *>self._kinds, <PyObject *>cls)
            if entry != NULL:
                other = <object>entry
            else:
                other = _kind_of(<object><PyObject *>cls, self._classes)
            kind = (<tuple>other)[0]
            payload = (<tuple>other)[1]
            if kind == UNDEFINED:
                return self._put(0x00)
            if kind < BYTES:
                self.careful = True
                other = plain(<object>value, kind, payload, self._classes, self._default, self._decimals)
                return self._value3(<PyObject *>other, columns, place, tag)
            marker = MARKERS[kind]
        # what is left takes a slot of the object table
        if (
            kind == LIST and cls == &PyTuple_Type and AMF_TUPLE_SIZE(value) == 0
            or kind == BYTES and cls == &PyBytes_Type and PyBytes_GET_SIZE(<object>value) < 2
            or kind == ITERABLE and cls == &PyFrozenSet_Type and not <object>value
            or kind == INVALID_DATE
        ):
            if self.objects.count << 1 > U29_MAX:
                raise too_many_objects()
            keep(&self.objects, value, False)
        else:
            if self.objects.count << 1 > U29_MAX:
                # full, but what is in there can still be referred to
                if self.objects.lazy:
                    hash_lazy_ones(&self.objects)
                index = find_object(&self.objects, value)
                if index < 0:
                    raise too_many_objects()
            else:
                index = self._meet(&self.objects, value)
            if index >= 0:
                if marker == 0:
                    marker = reference_marker(<object>value, kind)[0]
                return self._reference3(marker, <uint32_t>index)
        if kind == DICT:
            return self._dict3(value, value)
        if kind == LIST:
            return self._list3(value, value)
        if kind == PLAN or kind == TYPED:
            return self._object3(value, payload)
        if kind < ARRAY:
            return self._leaf3(value, kind, payload)
        return self._container3(value, kind, payload)

    cdef int _leaf3(self, PyObject *value, int kind, payload) except -1:
        """Dates, bytes, XML: a slot, and nothing inside."""
        cdef unsigned char *p
        cdef double number
        cdef bint ran = False
        cdef bytes data
        if kind == DATETIME or kind == DATE:
            number = date_milliseconds(value, kind, &ran)
            if ran:
                self.careful = True
            p = self._room(10)
            p[0] = 0x08
            p[1] = 0x01
            self.p = amf_put_double(p + 2, number)
            return 0
        if kind == INVALID_DATE:
            return self._raw(b"\x08\x01\x7f\xf8\x00\x00\x00\x00\x00\x00", 10)
        thing = <object>value
        if kind == BYTES:
            data = thing if type(thing) is bytes else memoryview(thing).tobytes()
            self._head3(0x0C, PyBytes_GET_SIZE(data), "bytes")
        elif kind == XML:
            data = utf8(str.__str__(thing))
            self._head3(0x07 if thing.legacy else 0x0B, PyBytes_GET_SIZE(data), "XML")
        else:
            data = utf8(payload(thing))
            self._head3(0x0B, PyBytes_GET_SIZE(data), "XML")
        return self._raw(PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))

    cdef int _list3(self, PyObject *value, PyObject *items) except -1:
        """A list or tuple as a dense array (AMF3 specification, 3.11)."""
        cdef bint is_list = not isinstance(<object>items, tuple)
        cdef Py_ssize_t count = AMF_LIST_SIZE(items) if is_list else AMF_TUPLE_SIZE(items)
        cdef unsigned char *p
        cdef Column *columns
        self._push(value, NULL, IN_LIST)
        self._head3(0x09, count, "an array")
        self._put(0x01)
        self._charge(count)
        columns = self._columns()
        self._items3(items, is_list, count, columns, ALWAYS)
        self.level -= 1
        return 0

    cdef int _items3(self, PyObject *items, bint is_list, Py_ssize_t count, Column *columns, int64_t tag) except -1:
        """The values of a list or tuple, one after another; runs of numbers without a look left or right."""
        cdef Py_ssize_t i = 0
        cdef Py_ssize_t level = self.level
        cdef PyObject *item
        cdef PyTypeObject *cls
        cdef unsigned char *p
        cdef unsigned char *last
        cdef int64_t number
        while i < count:
            if is_list:
                if i >= AMF_LIST_SIZE(items):
                    raise EncodeError("a list became shorter while it was being encoded")
                item = AMF_LIST_ITEM(items, i)
            else:
                item = AMF_TUPLE_ITEM(items, i)
            self.frames[level].place = i
            cls = amf_type(item)
            if cls == &PyFloat_Type and is_list:
                p = self._room(9)
                last = self.end - 9
                while True:  # nothing in here can run code of anybody's: the list stays as it is
                    p[0] = 0x05
                    p = amf_put_double(p + 1, AMF_FLOAT(item))
                    i += 1
                    if i >= count or i >= AMF_LIST_SIZE(items) or p > last:
                        break
                    item = AMF_LIST_ITEM(items, i)
                    if amf_type(item) != &PyFloat_Type:
                        break
                self.p = p
                continue
            if cls == &PyLong_Type and is_list and amf_small_int(item, &number) and INT29_MIN <= number <= INT29_MAX:
                p = self._room(5)
                last = self.end - 5
                while True:
                    p[0] = 0x04
                    p = amf_put_u29(p + 1, <uint32_t>number & U29_MAX)
                    i += 1
                    if i >= count or i >= AMF_LIST_SIZE(items) or p > last:
                        break
                    item = AMF_LIST_ITEM(items, i)
                    if amf_type(item) != &PyLong_Type or not amf_small_int(item, &number):
                        break
                    if not INT29_MIN <= number <= INT29_MAX:
                        break
                self.p = p
                continue
            self._value3(item, columns, i, tag)
            i += 1
        return 0

    cdef inline int _dynamic_traits(self) except -1:
        """The header of a plain dict: traits the first time, a reference to them from then on."""
        cdef unsigned char *p
        if self.plain_traits < 0:
            return self._first_dynamic_traits()
        p = self._room(5)
        p[0] = 0x0A
        self.p = amf_put_u29(p + 1, <uint32_t>(self.plain_traits << 2 | 1))
        return 0

    cdef int _first_dynamic_traits(self) except -1:
        self.plain_traits = self._write_traits("", (), True)
        return 0

    cdef int _dict3(self, PyObject *value, PyObject *members) except -1:
        """A dict as an anonymous dynamic object (AMF3 specification, 3.12)."""
        self._push(value, members, IN_PAIRS)
        self._dynamic_traits()
        self._charge(AMF_DICT_SIZE(members))
        self._pairs3(members, self._columns())
        self._put(0x01)
        self.level -= 1
        return 0

    cdef int _pairs3(self, PyObject *members, Column *columns) except -1:
        """Names and values, as dynamic members and associative parts have them; the end is the caller's."""
        cdef Py_ssize_t count = AMF_DICT_SIZE(members)
        cdef Py_ssize_t position = 0
        cdef Py_ssize_t place = 0
        cdef Py_ssize_t level = self.level
        cdef PyObject *key
        cdef PyObject *item
        cdef object text
        cdef int64_t tag
        while PyDict_Next(members, &position, &key, &item):
            self.frames[level].place = place
            if amf_type(key) == &PyUnicode_Type:
                if AMF_LENGTH(key) == 0:
                    raise empty_name()
                tag = self._key3(key)
            else:
                # The check of other keys may run code of the user's, which may change the dict.
                self.careful = True
                held = <object>item
                text = key_text(<object>key, <object>members)
                if not text:
                    raise empty_name()
                tag = self._key3(<PyObject *>text)
                self._value3(<PyObject *>held, columns, place, tag)
                place += 1
                if AMF_DICT_SIZE(members) != count:
                    raise EncodeError("a dict changed its size while it was being encoded")
                continue
            self._value3(item, columns, place, tag)
            place += 1
            if AMF_DICT_SIZE(members) != count:
                raise EncodeError("a dict changed its size while it was being encoded")
        return 0

    cdef int64_t _write_traits(self, str alias, tuple names, bint dynamic) except -1:
        """The header of an object, as a reference when the traits were written before; their place in the table."""
        cdef unsigned char *p
        cdef int64_t index
        cdef object found
        cdef object key = (alias, dynamic, names)
        if self._traits is None:
            self._traits = {}
        found = self._traits.get(key)
        p = self._room(5)
        p[0] = 0x0A
        if found is not None:
            index = found
            self.p = amf_put_u29(p + 1, <uint32_t>(index << 2 | 1))
            return index
        if len(names) << 4 > U29_MAX:
            raise too_many_members(len(names))
        self.p = amf_put_u29(p + 1, <uint32_t>(len(names) << 4 | dynamic << 3 | 3))
        self._name3(alias)
        for name in names:
            self._name3(name)
        index = len(self._traits)
        self._traits[key] = index
        return index

    cdef int _external_traits(self, str alias, bint dynamic) except -1:
        cdef unsigned char *p
        cdef object key = (alias, 2 + dynamic, ())
        if self._traits is None:
            self._traits = {}
        found = self._traits.get(key)
        p = self._room(5)
        p[0] = 0x0A
        if found is not None:
            self.p = amf_put_u29(p + 1, <uint32_t>(<int64_t>found << 2 | 1))
            return 0
        p[1] = 0x0F if dynamic else 0x07
        self.p = p + 2
        self._name3(alias)
        self._traits[key] = len(self._traits)
        return 0

    cdef int _object3(self, PyObject *value, plan) except -1:
        """An instance of a class: by its plan, or a TypedObject (`plan` is None) by what it says of itself."""
        cdef object thing = <object>value
        cdef object names, content, extra, alias
        cdef PyObject *fetched
        cdef PyObject *item
        cdef Py_ssize_t i, count
        cdef int64_t index, tag
        cdef int form
        cdef unsigned char *p
        if plan is not None:
            form = plan.form
            if form == FORM_WRAPPER:
                return self._wrapper3(value, plan)
            if form == FORM_EXTERNAL:
                return self._external3(value, plan)
            if plan.attributes is not None:
                # Reading these runs no code of the user's; all are read before the first is written, as the twin does.
                names = plan.attributes
                count = len(names)
                content = <object>PyTuple_New(count)
                Py_DECREF(<PyObject *>content)
                try:
                    for i in range(count):
                        PyTuple_SET_ITEM(
                            <PyObject *>content, i, PyObject_GetAttr(value, AMF_TUPLE_ITEM(<PyObject *>names, i))
                        )
                except AttributeError:
                    content = plan.get(thing)
                alias, names = plan.alias, plan.names
                extra = None if plan.extra is None else plan.extra(thing)
            else:
                self.careful = True
                alias, names, content, extra = members_of(thing, plan)
                self._hold(names)
        else:
            alias, names, content, extra = members_of(thing, None)
            self._hold(names)
        self._push(value, <PyObject *>names, IN_SEALED)
        if self._plan_traits is None:
            self._plan_traits = {}
        found = self._plan_traits.get(plan) if plan is not None and plan.attributes is not None else None
        if found is not None:
            index = found
            p = self._room(5)
            p[0] = 0x0A
            self.p = amf_put_u29(p + 1, <uint32_t>(index << 2 | 1))
        else:
            index = self._write_traits(alias, names, extra is not None)
            if plan is not None and plan.attributes is not None:
                self._plan_traits[plan] = index
        count = len(names)
        self._charge(count + (len(extra) if extra is not None else 0))
        columns = self._columns()
        if type(content) is not tuple:
            content = tuple(content)
        self._items3(<PyObject *>content, False, count, columns, -2 - index)
        if extra is not None:
            self._hold(extra)
            self.frames[self.level].mode = IN_PAIRS
            self.frames[self.level].container = <PyObject *>extra
            self.frames[self.level].place = -1
            self._pairs3(<PyObject *>extra, columns)
            self._put(0x01)
        self.level -= 1
        return 0

    cdef int _wrapper3(self, PyObject *value, plan) except -1:
        """A Flex collection: an externalizable whose payload is one value."""
        cdef object thing = <object>value
        cdef object source
        self._push(value, NULL, IN_SOURCE)
        self._external_traits(plan.alias_of(thing), getattr(thing, "__amf_dynamic__", False))
        source = thing.source
        self._charge(1)
        self.frames[self.level].place = 0
        self._value3(<PyObject *>source, NULL, 0, 0)
        self.level -= 1
        return 0

    cdef int _external3(self, PyObject *value, plan) except -1:
        """The payload of a class that writes itself."""
        self._push(value, NULL, IN_LIST)
        self._external_traits(plan.alias_of(<object>value), False)
        if self.external >= EXTERNAL_DEPTH:
            raise too_many_externals()
        self.careful = True
        self.external += 1
        try:
            (<object>value).__writeamf__(DataOutput(self))
            if self._broken is not None:  # the class caught it, but half a value has been written
                raise self._broken
        finally:
            self.external -= 1
        self.level -= 1
        return 0

    cdef int _container3(self, PyObject *value, int kind, payload) except -1:
        """Containers that are met less often than lists, dicts and objects."""
        cdef object thing = <object>value
        cdef object content, others, pairs
        cdef Py_ssize_t count, i
        cdef unsigned char *p
        if kind == MAPPING:
            self._push(value, NULL, IN_PAIRS)
            self.level -= 1
            self.careful = True
            content = mapped(thing, self.values)
            self._hold(content)
            return self._dict3(value, <PyObject *>content)
        if kind == ITERABLE:
            if self.level >= self._max_depth:
                raise too_deep(self._max_depth)
            content = self._list_of(thing)
            self._hold(content)
            return self._list3(value, <PyObject *>content)
        if kind == ARRAY or kind == VECTOR:
            if kind == VECTOR:
                content = packed(thing)
            elif _array_kind(thing) == "double" and self._doubles(value):
                return 0
            else:
                content = payload(thing)
            if type(content) is tuple:
                form, count, data = content
                self._charge(count)
                self._head3(VECTOR_MARKERS[form], count, "a Vector")
                self._put(kind == VECTOR and thing.fixed)
                return self._raw(PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))
            if kind == ARRAY:
                self.careful = True
                self._hold(content)
                return self._list3(value, <PyObject *>content)
            content = list.__getitem__(thing, slice(None))
            count = len(content)
            self._push(value, NULL, IN_LIST)
            self._head3(0x10, count, "a Vector")
            self._put(1 if thing.fixed else 0)
            self._name3(alias_text(thing.alias))
            self._charge(count)
            self._items3(<PyObject *>content, True, count, NULL, ALWAYS)
        elif kind == ECMA:
            self._push(value, NULL, IN_LIST)
            content, others = split(thing)
            self._hold(others)
            self._head3(0x09, len(content), "an array")
            self._charge(len(content) + len(others))
            columns = self._columns()
            self.frames[self.level].mode = IN_PAIRS
            self.frames[self.level].container = <PyObject *>others
            self._pairs3(<PyObject *>others, columns)
            self._put(0x01)
            self.frames[self.level].mode = IN_LIST
            self.frames[self.level].place = -1
            self._items3(<PyObject *>content, True, len(content), columns, ALWAYS)
        elif kind == DICTIONARY:
            self._push(value, NULL, IN_ENTRIES)
            self.careful = True
            content = entries(thing, self.values)
            count = len(content)
            self._head3(0x11, count >> 1, "a Dictionary")
            self._put(1 if thing.weak else 0)
            self._charge(count)
            self._items3(<PyObject *>content, True, count, NULL, ALWAYS)
        else:
            return self._rows3(value)
        self.level -= 1
        return 0

    cdef bint _doubles(self, PyObject *value) except -1:
        """An array of native doubles, byte order changed on the way; False where it is not one in memory."""
        cdef Py_buffer view
        cdef Py_ssize_t count, i
        cdef unsigned char *p
        cdef const uint64_t *items
        cdef uint64_t bits
        try:
            PyObject_GetBuffer(<object>value, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
        except (BufferError, ValueError, TypeError):
            return False
        try:
            if view.itemsize != 8 or view.ndim != 1 or view.format == NULL or view.format[0] != b"d" or view.format[1]:
                return False
            count = view.len // 8
            self._charge(count)
            self._head3(0x0F, count, "a Vector")
            p = self._room(1 + view.len)
            p[0] = 0
            p += 1
            items = <const uint64_t *>view.buf
            for i in range(count):
                bits = AMF_SWAP64(items[i])
                memcpy(p + 8 * i, &bits, 8)
            self.p = p + view.len
        finally:
            PyBuffer_Release(&view)
        return True

    cdef int _rows3(self, PyObject *value) except -1:
        """A result set: an array of sealed objects, whose names stand on the wire once."""
        cdef object thing = <object>value
        cdef object rows, row, columns, alias, header
        cdef Py_ssize_t count, width, i
        cdef int64_t index = -1
        cdef Column *places
        cdef unsigned char *p
        self._push(value, NULL, IN_ROWS)
        header, rows = rows_of(thing)
        columns, alias = header.columns, header.alias
        width = len(columns)
        if type(rows) is not list and type(rows) is not tuple:
            rows = self._list_of(rows)
        count = len(rows)
        self._head3(0x09, count, "an array")
        self._put(0x01)
        self._charge(count * (1 + width))
        self._hold(columns)
        for i in range(count):
            if type(rows) is list:  # a copy of our own
                row = <object>AMF_LIST_ITEM(<PyObject *>rows, i)
            else:
                row = <object>AMF_TUPLE_ITEM(<PyObject *>rows, i)
            self.frames[self.level].place = i
            if type(row) is not tuple or AMF_TUPLE_SIZE(<PyObject *>row) != width:
                if type(row) is not list:
                    self.careful = True
                row = row_of(row, columns)
            if self.level >= self._max_depth:
                raise too_deep(self._max_depth)
            keep(&self.objects, NULL, False)
            self._push(NULL, <PyObject *>columns, IN_SEALED)
            if index < 0:
                index = self._write_traits(alias, columns, False)
            else:
                p = self._room(5)
                p[0] = 0x0A
                self.p = amf_put_u29(p + 1, <uint32_t>(index << 2 | 1))
            places = self._columns()
            self._items3(<PyObject *>row, False, width, places, -2 - index)
            self.level -= 1
        self.level -= 1
        return 0

    # --- AMF0 -----------------------------------------------------------------------------------------------------------

    cdef int _arguments(self, value, bint avmplus, bint counted) except -1:
        """The arguments of a call: a strict array whose items are written each on its own."""
        cdef object item, items = value[:]  # writing one argument may run code that changes the list
        cdef Py_ssize_t i, count = len(items)
        self._charge(count)
        self._size0(0x0A, count)
        if counted:
            insert_object(&self.slots, <PyObject *>value, <uint32_t>self.slots.count)
            keep(&self.slots, <PyObject *>value, False)
        self._push(NULL, NULL, IN_LIST)
        for i in range(count):
            item = items[i]
            self.frames[self.level].place = i
            self.base0 = self.level
            self.repeated = 0
            if avmplus:
                self._avmplus(item)
            else:
                self._value0(<PyObject *>item)
        self.level -= 1
        return 0

    cdef int _avmplus(self, value) except -1:
        """A scalar in AMF0, anything else in AMF3 behind one `11`."""
        cdef int kind
        kind, payload = self._kinds.get(type(value)) or _kind_of(type(value), self._classes)
        if 3 <= kind < BYTES:  # it travels as another value
            self.careful = True
            value = plain(value, kind, payload, self._classes, self._default, self._decimals)
            kind, payload = self._kinds.get(type(value)) or _kind_of(type(value), self._classes)
        if kind < BYTES:
            return self._value0(<PyObject *>value)
        self._put(0x11)
        return self._value3(<PyObject *>value, NULL, 0, 0)

    cdef inline int _value0(self, PyObject *value) except -1:
        """One AMF0 value with its marker: the common scalars here, the rest in `_other0`."""
        cdef PyTypeObject *cls = amf_type(value)
        cdef int64_t number
        cdef unsigned char *p
        if cls == &PyUnicode_Type:
            return self._text0(value)
        if cls == &PyLong_Type:
            if amf_small_int(value, &number):
                return self._double(0x00, <double>number)
            return self._int0(value)
        if cls == &PyFloat_Type:
            return self._double(0x00, AMF_FLOAT(value))
        if value == Py_None:
            return self._put(0x05)
        if value == Py_True or value == Py_False:
            p = self._room(2)
            p[0] = 0x01
            p[1] = value == Py_True
            self.p = p + 2
            return 0
        return self._other0(value, cls)

    cdef int _int0(self, PyObject *value) except -1:
        cdef int overflow = 0
        cdef long long number = PyLong_AsLongLongAndOverflow(value, &overflow)
        cdef object other
        if not overflow and -EXACT_INT <= number <= EXACT_INT:
            return self._double(0x00, <double>number)
        other = big_int(<object>value, self._big_ints)
        return self._value0(<PyObject *>other)

    cdef inline int _text0(self, PyObject *text) except -1:
        """A string with its marker: 02 up to 65,535 bytes, else 0C (AMF0 specification, 2.4 and 2.14)."""
        cdef const char *data
        cdef Py_ssize_t size
        cdef unsigned char *p
        if not amf_ascii(text, &data, &size):
            self._utf8(text, &data, &size)
        if size > 0xFFFF:
            self._size0(0x0C, size)
            return self._raw(data, size)
        p = self._room(3 + size)
        p[0] = 0x02
        p[1] = <unsigned char>(size >> 8)
        p[2] = <unsigned char>size
        amf_copy(p + 3, data, size)
        self.p = p + 3 + size
        return 0

    cdef inline int _name0(self, PyObject *text, what) except -1:
        """A name behind its length in two bytes."""
        cdef const char *data
        cdef Py_ssize_t size
        cdef unsigned char *p
        if not amf_ascii(text, &data, &size):
            self._utf8(text, &data, &size)
        if size > AMF0_KEY_MAX:
            raise too_long_for_key(what, size)
        p = self._room(2 + size)
        p[0] = <unsigned char>(size >> 8)
        p[1] = <unsigned char>size
        amf_copy(p + 2, data, size)
        self.p = p + 2 + size
        return 0

    cdef int _size0(self, int marker, Py_ssize_t size) except -1:
        """A marker and a length or count in four bytes."""
        cdef unsigned char *p
        if <uint64_t>size > 0xFFFFFFFFu:
            raise too_long_for_amf0(size)
        p = self._room(5)
        p[0] = marker
        p[1] = <unsigned char>(size >> 24)
        p[2] = <unsigned char>(size >> 16)
        p[3] = <unsigned char>(size >> 8)
        p[4] = <unsigned char>size
        self.p = p + 5
        return 0

    cdef bint _is_open(self, PyObject *value) noexcept:
        """Is a value one of the containers around us?"""
        cdef Py_ssize_t i
        for i in range(self.base0 + 1, self.level + 1):
            if self.frames[i].value == value:
                return True
        return False

    cdef int _other0(self, PyObject *value, PyTypeObject *cls) except -1:
        """A value that is no common scalar."""
        cdef int kind, form = FORM_MEMBERS
        cdef int64_t slot
        cdef object payload = None
        cdef object other
        cdef PyObject *entry
        cdef bint again = False
        cdef bint ran = False
        cdef unsigned char *p
        cdef double number
        cdef bytes data
        if cls == &PyDict_Type:
            kind = DICT
        elif cls == &PyList_Type or cls == &PyTuple_Type:
            kind = LIST
        elif cls == DATETIME_TYPE:
            kind = DATETIME
        else:
            entry = PyDict_GetItemWithError(<PyObject *>self._kinds, <PyObject *>cls)
            if entry != NULL:
                other = <object>entry
            else:
                other = _kind_of(<object><PyObject *>cls, self._classes)
            kind = (<tuple>other)[0]
            payload = (<tuple>other)[1]
        if kind < BYTES:
            if kind == UNDEFINED:
                return self._put(0x06)
            self.careful = True
            other = plain(<object>value, kind, payload, self._classes, self._default, self._decimals)
            return self._value0(<PyObject *>other)
        if kind == DATETIME or kind == DATE:
            number = date_milliseconds(value, kind, &ran)
            if ran:
                self.careful = True
            p = self._room(11)
            p[0] = 0x0B
            p = amf_put_double(p + 1, number)
            p[0] = p[1] = 0
            self.p = p + 2
            return 0
        if kind == INVALID_DATE:
            return self._raw(b"\x0b\x7f\xf8\x00\x00\x00\x00\x00\x00\x00\x00", 11)
        if kind == PLAN:
            form = payload.form
            if form == FORM_WRAPPER:
                other = unwrapped(<object>value, self._classes)
                return self._value0(<PyObject *>other)
        if self.whole and (
            form == FORM_EXTERNAL
            or kind == BYTES
            or kind == ARRAY
            or kind == VECTOR
            or kind == DICTIONARY and not is_object(<object>value)
        ):
            raise NeedsAvmPlus()
        if form == FORM_EXTERNAL or kind == BYTES:
            self._put(0x11)
            return self._other3(value, cls, NULL, 0, 0)
        if cls == &PyTuple_Type and AMF_TUPLE_SIZE(value) == 0 or cls == &PyFrozenSet_Type and not <object>value:
            keep(&self.slots, value, False)
        elif amf_shared(value) or self.careful:
            if self.careful and self.slots.lazy:
                hash_lazy_ones(&self.slots)
            slot = find_object(&self.slots, value)
            if slot >= 0:
                again = True
                if self.repeated >= self.repeats or self._is_open(value):
                    p = self._room(3)
                    p[0] = 0x07
                    p[1] = <unsigned char>(slot >> 8)
                    p[2] = <unsigned char>slot
                    self.p = p + 3
                    return 0
            elif self.slots.count < AMF0_SLOTS:
                insert_object(&self.slots, value, <uint32_t>self.slots.count)
            keep(&self.slots, value, False)
        else:
            keep(&self.slots, value, True)
        if kind == XML or kind == ELEMENT:
            data = utf8(str.__str__(<object>value) if kind == XML else payload(<object>value))
            self._size0(0x0F, PyBytes_GET_SIZE(data))
            self._raw(PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))
            self.repeated += again
            return 0
        if kind == DICT:
            return self._dict0(value, value, 0x03, again)
        if kind == LIST:
            return self._list0(value, value, again)
        return self._container0(value, kind, payload, again)

    cdef int _opened0(self, int64_t count, bint again) except -1:
        if again:
            self.repeated += 1 + count
        return self._charge(count)

    cdef int _end0(self) except -1:
        """The end of an object, and one container less."""
        cdef unsigned char *p = self._room(3)
        p[0] = 0
        p[1] = 0
        p[2] = 0x09
        self.p = p + 3
        self.level -= 1
        return 0

    cdef int _list0(self, PyObject *value, PyObject *items, bint again) except -1:
        """A list or tuple as a strict array (AMF0 specification, 2.12)."""
        cdef bint is_list = not isinstance(<object>items, tuple)
        cdef Py_ssize_t count = AMF_LIST_SIZE(items) if is_list else AMF_TUPLE_SIZE(items)
        cdef Py_ssize_t i = 0
        cdef Py_ssize_t level
        cdef PyObject *item
        cdef unsigned char *p
        cdef unsigned char *last
        self._push(value, NULL, IN_LIST)
        level = self.level
        self._size0(0x0A, count)
        self._opened0(count, again)
        while i < count:
            if is_list:
                if i >= AMF_LIST_SIZE(items):
                    raise EncodeError("a list became shorter while it was being encoded")
                item = AMF_LIST_ITEM(items, i)
            else:
                item = AMF_TUPLE_ITEM(items, i)
            self.frames[level].place = i
            if amf_type(item) == &PyFloat_Type and is_list:
                p = self._room(9)
                last = self.end - 9
                while True:  # nothing in here can run code of anybody's: the list stays as it is
                    p[0] = 0x00
                    p = amf_put_double(p + 1, AMF_FLOAT(item))
                    i += 1
                    if i >= count or i >= AMF_LIST_SIZE(items) or p > last:
                        break
                    item = AMF_LIST_ITEM(items, i)
                    if amf_type(item) != &PyFloat_Type:
                        break
                self.p = p
                continue
            self._value0(item)
            i += 1
        self.level -= 1
        return 0

    cdef int _dict0(self, PyObject *value, PyObject *members, int marker, bint again) except -1:
        """A dict as an object (AMF0 specification, 2.5)."""
        self._push(value, members, IN_PAIRS)
        self._put(marker)
        self._opened0(AMF_DICT_SIZE(members), again)
        self._pairs0(members)
        return self._end0()

    cdef int _pairs0(self, PyObject *members) except -1:
        cdef Py_ssize_t count = AMF_DICT_SIZE(members)
        cdef Py_ssize_t position = 0
        cdef Py_ssize_t place = 0
        cdef Py_ssize_t level = self.level
        cdef PyObject *key
        cdef PyObject *item
        cdef object text, held
        while PyDict_Next(members, &position, &key, &item):
            self.frames[level].place = place
            if amf_type(key) == &PyUnicode_Type:
                self._name0(key, "a key")
                self._value0(item)
            else:
                self.careful = True
                held = <object>item
                text = key_text(<object>key, <object>members)
                self._name0(<PyObject *>text, "a key")
                self._value0(<PyObject *>held)
            place += 1
            if AMF_DICT_SIZE(members) != count:
                raise EncodeError("a dict changed its size while it was being encoded")
        return 0

    cdef int _container0(self, PyObject *value, int kind, payload, bint again) except -1:
        """Containers that are met less often than lists and dicts."""
        cdef object thing = <object>value
        cdef object content
        if self.level >= self._max_depth:
            raise too_deep(self._max_depth)
        if kind == MAPPING or kind == DICTIONARY:
            self.careful = True
            content = mapped(thing, self.values) if kind == MAPPING else as_object(thing)
            self._hold(content)
            return self._dict0(value, <PyObject *>content, 0x03, again)
        if kind == ECMA:
            content = dict.copy(thing)
            self._hold(content)
            self._push(value, <PyObject *>content, IN_PAIRS)
            self._size0(0x08, ecma_count(thing))
            self._opened0(len(content), again)
            self._pairs0(<PyObject *>content)
            return self._end0()
        if kind == TYPED or kind == PLAN:
            if payload is None or payload.attributes is None:
                self.careful = True
            alias, names, values, extra = members_of(thing, payload)
            content = dict(zip(names, values, strict=True))
            if extra:
                content.update(extra)
            self._hold(content)
            if not alias:
                return self._dict0(value, <PyObject *>content, 0x03, again)
            self._push(value, <PyObject *>content, IN_PAIRS)
            self._put(0x10)
            self._name0(<PyObject *>alias, "an alias")
            self._opened0(len(content), again)
            self._pairs0(<PyObject *>content)
            return self._end0()
        if kind == ROWS:
            return self._rows0(value, again)
        if kind == ITERABLE:
            content = self._list_of(thing)
        elif kind == ARRAY:
            self.careful = True
            content = _array_items(thing)
        else:
            content = list.__getitem__(thing, slice(None))
        self._hold(content)
        return self._list0(value, <PyObject *>content, again)

    cdef int _rows0(self, PyObject *value, bint again) except -1:
        """A result set: a strict array of objects."""
        cdef object thing = <object>value
        cdef object rows, row, columns, alias, header
        cdef Py_ssize_t count, width, i, j
        self._push(value, NULL, IN_ROWS)
        header, rows = rows_of(thing)
        columns, alias = header.columns, header.alias
        width = len(columns)
        if type(rows) is not list and type(rows) is not tuple:
            rows = self._list_of(rows)
        count = len(rows)
        self._size0(0x0A, count)
        self._opened0(count * (1 + width), again)
        self._hold(columns)
        for i in range(count):
            row = rows[i]
            self.frames[self.level].place = i
            if type(row) is not tuple or AMF_TUPLE_SIZE(<PyObject *>row) != width:
                if type(row) is not list:
                    self.careful = True
                row = row_of(row, columns)
            if self.level >= self._max_depth:
                raise too_deep(self._max_depth)
            keep(&self.slots, NULL, False)
            self._push(NULL, <PyObject *>columns, IN_SEALED)
            if alias:
                self._put(0x10)
                self._name0(<PyObject *>alias, "an alias")
            else:
                self._put(0x03)
            for j in range(width):
                self.frames[self.level].place = j
                self._name0(AMF_TUPLE_ITEM(<PyObject *>columns, j), "a key")
                self._value0(AMF_TUPLE_ITEM(<PyObject *>row, j))
            self._end0()
        self.level -= 1
        return 0


# The marker of each kind, as it stands before a reference too; 0 where the value has to be asked.
cdef int MARKERS[26]
MARKERS[:] = [
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0C, 0x08, 0x08, 0x08, 0, 0x0B, 0, 0, 0x09, 0x09, 0x0A, 0x0A, 0x09, 0x0A, 0x0A, 0x11, 0x09,
]
