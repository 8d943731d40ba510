# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: embedsignature=True, embedsignature.format=clinic, nonecheck=False, annotation_typing=False
"""The decoder, compiled: the twin of `_decoder_py.py`, value for value and error for error.

One object holds the input, a cursor and the tables.  Each kind of container has a function that reads its children:
numbers, texts, booleans and null on the spot (`amf_scalar3`, `amf_scalar0`, and `amf_run3`, `amf_run0` for lists), with
the cursor in a local, and all else by calling `_value3` or `_value0` again, which are also what tells how the last
few bytes of the input are wrong.  Depth is a number that is passed along, and `max_depth` bounds it.

Nothing is read before it is known to be there: every read compares what it needs with what is left, and every count is
compared with the bytes left before anything is made for it.  The cursor is always inside the input, whatever code
of the user's does in between (a class that reads itself may call any method of the decoder, even from another thread);
slots are written by number and checked, never by pointer.  A local cursor is put back before anything is called that
may run such code, and taken anew after it.

What reads a value returns a new reference as a bare pointer, and what takes it (`amf_append_new`, `amf_set_new`) takes
the reference too, so that no value is counted up and down on its way.  Containers are held by an `object`,
which lets go of them when a child raises.

Lists are never seen half-filled: they are made with room for all their items and grow into it.  All lists of one value
together get no more room than the input has bytes, as each item takes one at least; what nests deeper than
that grows as it is read.

The rule of `plain=True`, a second pass where a guess was wrong, is told in `_decoder_py.py`.
"""

cimport cython
from cpython.datetime cimport datetime_new, import_datetime
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.object cimport PyObject
from libc.math cimport fabs, modf, round
from libc.stdint cimport int64_t, uint32_t, uint64_t

import datetime as _datetime

from . import _wire
from ._wire import DEPTH_ALONE, VECTOR_NAMES, Limits, check_options
from .classes import ClassRegistry, default_registry
from .dataio import DataInput
from .errors import DecodeError, said
from .looks import explained
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
      #define AMF_NOINLINE __declspec(noinline)
    #else
      #define AMF_SWAP64(x) __builtin_bswap64(x)
      #define AMF_SWAP32(x) __builtin_bswap32(x)
      #define AMF_LIKELY(x) __builtin_expect(!!(x), 1)
      #define AMF_NOINLINE __attribute__((noinline))
    #endif
    #define AMF_ASCII_DATA(text) ((unsigned char *)((PyASCIIObject *)(text) + 1))  /* of a new text */
    #ifdef WORDS_BIGENDIAN
      #undef AMF_SWAP64
      #undef AMF_SWAP32
      #define AMF_SWAP64(x) (x)
      #define AMF_SWAP32(x) (x)
    #endif

    /* Microseconds, counted from 1970.  Defined in C: of a literal of more than 32 bits Cython makes a Python int. */
    #define AMF_FIRST_MICROSECOND (-62135596800000000LL)  /* 0001-01-01 */
    #define AMF_PAST_MICROSECOND 253402300800000000LL     /* 10000-01-01 */
    #define AMF_DAY 86400000000LL

    static inline uint64_t amf_load64(const unsigned char *p) {
        uint64_t bits;
        memcpy(&bits, p, 8);
        return bits;
    }

    static inline uint32_t amf_load32(const unsigned char *p) {
        uint32_t bits;
        memcpy(&bits, p, 4);
        return bits;
    }

    static inline double amf_get_double(const unsigned char *p) {
        uint64_t bits = AMF_SWAP64(amf_load64(p));
        double number;
        memcpy(&number, &bits, 8);
        return number;
    }

    static inline uint32_t amf_get_u32(const unsigned char *p) {
        return AMF_SWAP32(amf_load32(p));
    }

    /* A U29 as a signed int, where four bytes are there to read; `behind` is set to what follows it. */
    static inline int64_t amf_get_int29(const unsigned char *p, const unsigned char **behind) {
        int64_t number = p[0];
        if (number >= 0x80) {
            number = (number & 0x7F) << 7 | (p[1] & 0x7F);
            if (p[1] < 0x80) p += 1;
            else {
                number = number << 7 | (p[2] & 0x7F);
                if (p[2] < 0x80) p += 2;
                else {
                    number = ((number << 8 | p[3]) ^ 0x10000000) - 0x10000000;
                    p += 3;
                }
            }
        }
        *behind = p + 1;
        return number;
    }

    /* Is every byte below 0x80?  Eight at a time, the last eight overlapping; there are eight at least. */
    static inline int amf_is_ascii(const unsigned char *p, Py_ssize_t n) {
        uint64_t seen = amf_load64(p + n - 8);
        Py_ssize_t i;
        for (i = 0; i + 8 <= n; i += 8) seen |= amf_load64(p + i);
        return !(seen & 0x8080808080808080u);
    }

    /* A text, at length.  `surrogateescape` is told from the start: with valid UTF-8 it takes no time, and with other
       bytes no exception is made and dropped: no code of the user's runs in here, not even by the garbage collector. */
    static PyObject *amf_long_text(const unsigned char *p, Py_ssize_t n) {
        PyObject *text;
        if (n <= 16 || !amf_is_ascii(p, n)) return PyUnicode_DecodeUTF8((const char *)p, n, "surrogateescape");
        text = PyUnicode_New(n, 127);
        if (text != NULL) memcpy(AMF_ASCII_DATA(text), p, (size_t)n);
        return text;
    }

    /* A text of one byte at least.  Short ASCII is copied by loads of a fixed size that overlap, as most texts are
       short and calling memcpy takes longer than they do. */
    static inline PyObject *amf_text(const unsigned char *p, Py_ssize_t n) {
        PyObject *text;
        unsigned char *into;
        if (AMF_LIKELY(n >= 8 && n <= 16)) {
            if (AMF_LIKELY(!((amf_load64(p) | amf_load64(p + n - 8)) & 0x8080808080808080u))) {
                text = PyUnicode_New(n, 127);
                if (text == NULL) return NULL;
                into = AMF_ASCII_DATA(text);
                memcpy(into, p, 8);
                memcpy(into + n - 8, p + n - 8, 8);
                return text;
            }
        }
        else if (n >= 4 && n < 8) {
            if (AMF_LIKELY(!((amf_load32(p) | amf_load32(p + n - 4)) & 0x80808080u))) {
                text = PyUnicode_New(n, 127);
                if (text == NULL) return NULL;
                into = AMF_ASCII_DATA(text);
                memcpy(into, p, 4);
                memcpy(into + n - 4, p + n - 4, 4);
                return text;
            }
        }
        else if (n >= 2 && n < 4 && AMF_LIKELY(!((p[0] | p[1] | p[n - 1]) & 0x80))) {
            text = PyUnicode_New(n, 127);
            if (text == NULL) return NULL;
            into = AMF_ASCII_DATA(text);
            into[0] = p[0];
            into[1] = p[1];
            into[n - 1] = p[n - 1];
            return text;
        }
        return amf_long_text(p, n);
    }

    /* The ints from 0 to 255, of which CPython has one each anyway; set when the module is imported. */
    static PyObject *amf_small[256];

    static inline PyObject *amf_int(int64_t number) {
        if ((uint64_t)number < 256) {
            Py_INCREF(amf_small[number]);
            return amf_small[number];
        }
        if (LONG_MIN <= number && number <= LONG_MAX) return PyLong_FromLong((long)number);
        return PyLong_FromLongLong(number);
    }

    /* A double, as an int if it is a whole one within 2**53 and not -0.0. */
    static inline PyObject *amf_number(const unsigned char *p) {
        double number = amf_get_double(p);
        if (number >= -9007199254740992.0 && number <= 9007199254740992.0) {
            int64_t whole = (int64_t)number;
            if ((double)whole == number && (whole || p[0] != 0x80)) return amf_int(whole);
        }
        return PyFloat_FromDouble(number);
    }

    /* Append a new reference: straight into the room that the list was made with, while there is some. */
    static inline int amf_append_new(PyObject *list, PyObject *item) {
    #ifndef Py_GIL_DISABLED
        Py_ssize_t size = PyList_GET_SIZE(list);
        if (AMF_LIKELY(size < ((PyListObject *)list)->allocated)) {
            ((PyListObject *)list)->ob_item[size] = item;
            Py_SET_SIZE((PyVarObject *)list, size + 1);
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
        if (list != NULL) Py_SET_SIZE((PyVarObject *)list, 0);
        return list;
    #endif
    }

    /* Where the next items of a list may be put, at most `count`, which becomes less if there is less room.  There is
       none in a list that another thread is sorting: its size is 0 then, and what is allocated is -1. */
    static inline PyObject **amf_room(PyObject *list, Py_ssize_t *count) {
        Py_ssize_t size = PyList_GET_SIZE(list);
        Py_ssize_t room = ((PyListObject *)list)->allocated - size;
        if (*count > room) *count = room > 0 ? room : 0;
        return ((PyListObject *)list)->ob_item + size;
    }

    /* Say up to where they have been put; how many there are. */
    static inline Py_ssize_t amf_filled(PyObject *list, PyObject **item) {
        Py_ssize_t before = PyList_GET_SIZE(list);
        Py_SET_SIZE((PyVarObject *)list, item - ((PyListObject *)list)->ob_item);
        return PyList_GET_SIZE(list) - before;
    }

    /* Set an entry to a new reference. */
    static inline int amf_set_new(PyObject *dict, PyObject *key, PyObject *value) {
        int failed = PyDict_SetItem(dict, key, value);
        Py_DECREF(value);
        return failed;
    }

    /* The same for a text that has most likely been a key before, and knows its hash: less is looked at first. */
    static inline int amf_set_known(PyObject *dict, PyObject *key, PyObject *value) {
    #if PY_VERSION_HEX < 0x030D0000
        Py_hash_t hash = ((PyASCIIObject *)key)->hash;
        if (AMF_LIKELY(hash != -1)) {
            int failed = _PyDict_SetItem_KnownHash(dict, key, value, hash);
            Py_DECREF(value);
            return failed;
        }
    #endif
        return amf_set_new(dict, key, value);
    }

    /* Set an attribute to a new reference, as `object.__setattr__` does. */
    static inline int amf_put_new(PyObject *instance, PyObject *name, PyObject *value) {
        int failed = PyObject_GenericSetAttr(instance, name, value);
        Py_DECREF(value);
        return failed;
    }

    static inline PyObject *amf_bare(PyObject *cls, PyObject *nothing) {
        return ((PyTypeObject *)cls)->tp_new((PyTypeObject *)cls, nothing, NULL);
    }

    /* A new reference as what Cython counts. */
    static inline PyObject *amf_owned(PyObject *found) { return found; }

    /* -1 for an error that is set already: makes it one that Cython can catch. */
    static inline int amf_failed(void) { return -1; }

    /* A key of AMF0 objects, recognised by its bytes: the length and the text after it, as they stand in the input. */
    typedef struct amf_key {
        PyObject *text;
        const unsigned char *data;  /* where the length stands, in the input, which lives as long as the decoder */
        uint64_t head;              /* the first eight bytes, those of the key alone */
        uint64_t mask;              /* which they are */
        Py_ssize_t size;            /* of all, in bytes */
        Py_ssize_t reach;           /* so many have to be there to compare them: eight at least */
        struct amf_key *next;       /* the one that came after this one the last time: rows have the same keys */
    } amf_key;

    static inline uint64_t amf_key_mask(Py_ssize_t size) {
        static const unsigned char ones[16] = {255, 255, 255, 255, 255, 255, 255, 255};
        return size < 8 ? amf_load64(ones + 8 - size) : ~(uint64_t)0;
    }

    static inline uint32_t amf_key_hash(const unsigned char *p, uint64_t head, Py_ssize_t size) {
        uint64_t hash = head * 0x9E3779B97F4A7C15u;
        if (size > 8) hash = (hash ^ hash >> 32 ^ amf_load64(p + size - 8)) * 0x9E3779B97F4A7C15u;
        return (uint32_t)(hash >> 56);  /* the bits that all bytes have a part in */
    }

    static inline int amf_same_tail(const unsigned char *a, const unsigned char *b, Py_ssize_t size) {
        for (; size > 16; size -= 8, a += 8, b += 8) {
            if (amf_load64(a + 8) != amf_load64(b + 8)) return 0;
        }
        return amf_load64(a + size - 8) == amf_load64(b + size - 8);
    }

    /* Is it this key that stands at `p`? */
    static inline int amf_is_key(const amf_key *key, const unsigned char *p, const unsigned char *end) {
        return end - p >= key->reach && (amf_load64(p) & key->mask) == key->head
            && (key->size <= 8 || amf_same_tail(key->data, p, key->size));
    }

    typedef struct {
        PyObject **items;
        Py_ssize_t count;
        Py_ssize_t room;
    } amf_table;

    static int amf_grow(amf_table *table) {
        Py_ssize_t room = table->room ? table->room * 2 : 32;
        PyObject **bigger = (PyObject **)PyMem_Realloc(table->items, (size_t)room * sizeof(PyObject *));
        if (bigger == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        table->items = bigger;
        table->room = room;
        return 0;
    }

    /* Append an item, of which the table takes a reference of its own. */
    static inline int amf_add(amf_table *table, PyObject *item) {
        if (table->count == table->room && amf_grow(table)) return -1;
        Py_INCREF(item);
        table->items[table->count++] = item;
        return 0;
    }

    /* What most values are: numbers, texts, booleans and null.  1: one was read, `*found` is a new reference and the
       cursor behind it.  0: it is something else or close to the end, and nothing was read.  -1: an error is set. */
    static inline int amf_scalar0(const unsigned char **cursor, const unsigned char *end, PyObject **found) {
        const unsigned char *p = *cursor;
        if (end - p < 9) return 0;
        if (p[0] == 0x02) {
            Py_ssize_t size = p[1] << 8 | p[2];
            if (size == 0 || size > end - p - 3) return 0;
            *found = amf_text(p + 3, size);
            *cursor = p + 3 + size;
            return *found == NULL ? -1 : 1;
        }
        if (p[0] == 0x00) {
            *found = amf_number(p + 1);
            *cursor = p + 9;
            return *found == NULL ? -1 : 1;
        }
        if (p[0] == 0x01) {
            *found = p[1] ? Py_True : Py_False;
            *cursor = p + 2;
        }
        else if (p[0] == 0x05) {
            *found = Py_None;
            *cursor = p + 1;
        }
        else return 0;
        Py_INCREF(*found);
        return 1;
    }

    static inline int amf_scalar3(
        const unsigned char **cursor, const unsigned char *end, amf_table *strings, int plain, PyObject **found
    ) {
        const unsigned char *p = *cursor;
        if (end - p < 9) return 0;
        if (p[0] == 0x06) {
            Py_ssize_t size = p[1] >> 1;
            if (p[1] >= 0x80) return 0;
            if (!(p[1] & 1)) {
                if (size >= strings->count) return 0;
                *found = strings->items[size];
                *cursor = p + 2;
                Py_INCREF(*found);
                return 1;
            }
            if (size == 0 || size > end - p - 2) return 0;
            *found = amf_text(p + 2, size);
            *cursor = p + 2 + size;
            if (*found == NULL) return -1;
            if (!amf_add(strings, *found)) return 1;
            Py_DECREF(*found);
            return -1;
        }
        if (p[0] == 0x04) {
            *found = amf_int(amf_get_int29(p + 1, cursor));
            return *found == NULL ? -1 : 1;
        }
        if (p[0] == 0x05) {
            *found = plain ? amf_number(p + 1) : PyFloat_FromDouble(amf_get_double(p + 1));
            *cursor = p + 9;
            return *found == NULL ? -1 : 1;
        }
        if (p[0] == 0x03) *found = Py_True;
        else if (p[0] == 0x02) *found = Py_False;
        else if (p[0] == 0x01) *found = Py_None;
        else return 0;
        *cursor = p + 1;
        Py_INCREF(*found);
        return 1;
    }

    /* Read such values into a list as long as they come one after another and it has room, `count` at most, and say
       how many.  Nothing in here runs code of the user's, so nobody else sees the list meanwhile.
       Not inline: what it keeps in registers all the time is as much as there are registers to keep. */
    static AMF_NOINLINE Py_ssize_t amf_run0(
        const unsigned char **cursor, const unsigned char *end, PyObject *list, Py_ssize_t count
    ) {
        const unsigned char *p = *cursor;
        PyObject **item = amf_room(list, &count);
        PyObject **past = item + count;
        int read = 1;
        for (; item < past; item++) {
            read = amf_scalar0(&p, end, item);
            if (read <= 0) break;
        }
        *cursor = p;
        count = amf_filled(list, item);
        return read < 0 ? -1 : count;
    }

    static inline Py_ssize_t amf_items3(
        const unsigned char **cursor, const unsigned char *end, amf_table *strings, const int plain,
        PyObject *list, Py_ssize_t count
    ) {
        const unsigned char *p = *cursor;
        PyObject **item = amf_room(list, &count);
        PyObject **past = item + count;
        int read = 1;
        while (read > 0 && item < past && end - p >= 9) {
            if (p[0] == 0x04) {  /* there may be nothing but these, or those below */
                do {
                    *item = amf_int(amf_get_int29(p + 1, &p));
                    if (*item == NULL) read = -1;
                    else item++;
                } while (read > 0 && item < past && end - p >= 9 && p[0] == 0x04);
            }
            else if (p[0] == 0x05 && !plain) {
                do {
                    *item = PyFloat_FromDouble(amf_get_double(p + 1));
                    p += 9;
                    if (*item == NULL) read = -1;
                    else item++;
                } while (read > 0 && item < past && end - p >= 9 && p[0] == 0x05);
            }
            else {
                read = amf_scalar3(&p, end, strings, plain, item);
                item += read > 0;
            }
        }
        *cursor = p;
        count = amf_filled(list, item);
        return read < 0 ? -1 : count;
    }

    static AMF_NOINLINE Py_ssize_t amf_run3(
        const unsigned char **cursor, const unsigned char *end, amf_table *strings, PyObject *list, Py_ssize_t count
    ) {
        return amf_items3(cursor, end, strings, 0, list, count);
    }

    static AMF_NOINLINE Py_ssize_t amf_plain_run3(
        const unsigned char **cursor, const unsigned char *end, amf_table *strings, PyObject *list, Py_ssize_t count
    ) {
        return amf_items3(cursor, end, strings, 1, list, count);
    }

    static inline int amf_is_scalar0(const unsigned char *p, const unsigned char *end) {
    #ifdef Py_GIL_DISABLED
        return 0;
    #else
        return end - p >= 9 && (p[0] <= 0x02 || p[0] == 0x05);
    #endif
    }

    static inline int amf_is_scalar3(const unsigned char *p, const unsigned char *end) {
    #ifdef Py_GIL_DISABLED
        return 0;
    #else
        return end - p >= 9 && p[0] < 0x07;
    #endif
    }

    /* The key that a short reference means, or NULL: a text of the table, which is not empty. */
    static inline PyObject *amf_key3(const unsigned char *p, const amf_table *strings) {
        return p[0] < 0x80 && !(p[0] & 1) && p[0] >> 1 < strings->count ? strings->items[p[0] >> 1] : NULL;
    }

    /* The garbage collector has to see what the four tables hold: an externalizable may keep its DataInput and with
       it the decoder, whose table holds the externalizable.  Cython knows of objects in attributes only. */
    static traverseproc amf_traverse_attributes;
    static Py_ssize_t amf_tables_at;

    static int amf_traverse(PyObject *self, visitproc visit, void *arg) {
        const amf_table *tables = (const amf_table *)((char *)self + amf_tables_at);
        Py_ssize_t i, k;
        for (i = 0; i < 4; i++) {
            for (k = 0; k < tables[i].count; k++) Py_VISIT(tables[i].items[k]);
        }
        return amf_traverse_attributes(self, visit, arg);
    }

    static void amf_traverse_tables(PyObject *cls, Py_ssize_t at) {
        amf_tables_at = at;
        amf_traverse_attributes = ((PyTypeObject *)cls)->tp_traverse;
        ((PyTypeObject *)cls)->tp_traverse = amf_traverse;
    }
    """
    int64_t FIRST_MICROSECOND "AMF_FIRST_MICROSECOND"
    int64_t PAST_MICROSECOND "AMF_PAST_MICROSECOND"
    int64_t DAY "AMF_DAY"
    double amf_get_double(const unsigned char *p) noexcept nogil
    uint32_t amf_get_u32(const unsigned char *p) noexcept nogil
    int64_t amf_get_int29(const unsigned char *p, const unsigned char **behind) noexcept nogil
    PyObject *amf_text(const unsigned char *p, Py_ssize_t n) except NULL
    PyObject *amf_small[256]
    PyObject *amf_int(int64_t number) except NULL
    PyObject *amf_number(const unsigned char *p) except NULL
    int amf_append_new(PyObject *items, PyObject *item) except -1
    PyObject *amf_roomy_list(Py_ssize_t count) except NULL
    int amf_set_known(PyObject *members, PyObject *key, PyObject *value) except -1
    int amf_set_new(PyObject *members, PyObject *key, PyObject *value) except -1
    int amf_put_new(PyObject *instance, PyObject *name, PyObject *value) noexcept  # an error may be set
    PyObject *amf_bare(PyObject *cls, PyObject *nothing) noexcept  # NULL: an error is set
    object owned "amf_owned" (PyObject *found)
    int amf_failed() except -1
    uint64_t amf_load64(const unsigned char *p) noexcept nogil
    void amf_traverse_tables(PyObject *cls, Py_ssize_t at) noexcept

    ctypedef struct Table "amf_table":
        PyObject **items
        Py_ssize_t count
        Py_ssize_t room

    ctypedef struct Key "amf_key":
        PyObject *text
        const unsigned char *data
        uint64_t head
        uint64_t mask
        Py_ssize_t size
        Py_ssize_t reach
        Key *next

    uint64_t amf_key_mask(Py_ssize_t size) noexcept nogil
    uint32_t amf_key_hash(const unsigned char *p, uint64_t head, Py_ssize_t size) noexcept nogil
    bint amf_is_key(const Key *key, const unsigned char *p, const unsigned char *end) noexcept nogil
    int amf_grow(Table *table) except -1
    int add "amf_add" (Table *table, PyObject *item) except -1
    bint amf_scalar0(const unsigned char **cursor, const unsigned char *end, PyObject **found) except -1
    Py_ssize_t amf_run0(
        const unsigned char **cursor, const unsigned char *end, PyObject *items, Py_ssize_t count
    ) except -1
    Py_ssize_t amf_run3(
        const unsigned char **cursor, const unsigned char *end, Table *strings, PyObject *items, Py_ssize_t count
    ) except -1
    Py_ssize_t amf_plain_run3(
        const unsigned char **cursor, const unsigned char *end, Table *strings, PyObject *items, Py_ssize_t count
    ) except -1
    bint amf_is_scalar0(const unsigned char *p, const unsigned char *end) noexcept nogil
    bint amf_is_scalar3(const unsigned char *p, const unsigned char *end) noexcept nogil
    PyObject *amf_key3(const unsigned char *p, const Table *strings) noexcept nogil
    bint amf_scalar3(
        const unsigned char **cursor, const unsigned char *end, Table *strings, bint plain, PyObject **found
    ) except -1

cdef extern from "Python.h":
    const Py_ssize_t PY_SSIZE_T_MAX
    PyObject *Py_None
    PyObject *Py_True
    PyObject *Py_False
    void Py_INCREF(PyObject *)
    void Py_DECREF(PyObject *)
    void Py_XDECREF(PyObject *)
    PyObject *PyFloat_FromDouble(double) except NULL
    PyObject *PyDict_New() except NULL
    PyObject *PyDict_GetItemWithError(object, object) except? NULL
    PyObject *PyBytes_FromStringAndSize(const char *, Py_ssize_t) except NULL
    const unsigned char *PyBytes_AS_STRING "(const unsigned char *)PyBytes_AS_STRING" (object)
    Py_ssize_t PyBytes_GET_SIZE(object)
    PyObject *PyTuple_GET_ITEM(object, Py_ssize_t)
    Py_ssize_t PyUnicode_GET_LENGTH(object)
    const char *PyUnicode_AsUTF8AndSize(PyObject *, Py_ssize_t *) except NULL

import_datetime()

cdef enum:
    FORM_WRAPPER = 1  # the forms of plans.py
    FORM_EXTERNAL = 2
    KEYS = 128  # AMF0 keys kept by their bytes, in pairs of places; to be crowded out costs a new string, no more
    KEY_MAX = 64  # bytes; longer keys are not kept
    KEYS_FROM = 8  # so many names are not kept: a small value would not earn the making of the table

cdef int64_t NO_LIMIT = <int64_t>1 << 62
cdef int64_t INDEX_END = _wire.INDEX_END
cdef int EXTERNAL_DEPTH = _wire.EXTERNAL_DEPTH
cdef Py_ssize_t DEPTH_USUAL = DEPTH_ALONE.max_depth
cdef object USUAL_CLASSES = default_registry
cdef object USUAL_LIMITS = Limits
cdef object REGISTRY = ClassRegistry
cdef object UTC = _datetime.timezone.utc
cdef object UNDEFINED = undefined
cdef object _PENDING = object()
cdef PyObject *PENDING = <PyObject *>_PENDING  # a slot that cannot be referred to before its value is complete
cdef tuple NOTHING = ()
cdef str NO_TEXT = ""
cdef PyObject *EMPTY = <PyObject *>NO_TEXT
# Attributes of TypedObject, EcmaArray and Vector, all of them slots.
cdef str ALIAS = "alias"
cdef str SEALED = "sealed"
cdef str DYNAMIC = "dynamic"
cdef str COUNT = "count"
cdef object BARE_OBJECT = TypedObject
cdef object BARE_ARRAY = EcmaArray

cdef list _small = list(range(256))
cdef int _number
for _number in range(256):
    amf_small[_number] = <PyObject *>_small[_number]


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
    cdef PyObject *last
    while table.count > count:
        table.count -= 1
        last = table.items[table.count]
        Py_DECREF(last)


cdef inline PyObject *handed(object value) noexcept:
    """An object as a new reference."""
    Py_INCREF(<PyObject *>value)
    return <PyObject *>value


cdef object typed_object(object alias, object sealed, object dynamic):
    """A TypedObject without members: `TypedObject(...)`, with its attributes set here."""
    cdef PyObject *found = amf_bare(<PyObject *>BARE_OBJECT, <PyObject *>NOTHING)
    if found == NULL:
        amf_failed()
    cdef object members = owned(found)
    if (
        amf_put_new(found, <PyObject *>ALIAS, handed(alias))
        or amf_put_new(found, <PyObject *>SEALED, handed(sealed))
        or amf_put_new(found, <PyObject *>DYNAMIC, handed(dynamic))
    ):
        amf_failed()
    return members


cdef object ecma_array(object count):
    """An EcmaArray without entries."""
    cdef PyObject *found = amf_bare(<PyObject *>BARE_ARRAY, <PyObject *>NOTHING)
    if found == NULL:
        amf_failed()
    cdef object array = owned(found)
    if amf_put_new(found, <PyObject *>COUNT, handed(count)):
        amf_failed()
    return array


cdef class Traits:
    """What the wire says of a class: AMF3's traits, with the plan of the class if somebody registered it."""

    cdef str alias
    cdef tuple names
    cdef bint dynamic
    cdef bint external
    cdef bint bare  # an object of these is a dict
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
    cdef int64_t _max_values
    cdef bint plain
    cdef bint milliseconds
    cdef Table strings  # the first of four in a row: see amf_traverse
    cdef Table objects
    cdef Table traits
    cdef Table slots
    cdef dict _plans  # alias -> plan, for AMF0
    cdef Key *keys
    cdef int names  # how many came that could be kept, until there is a table
    cdef Key *expected  # the key that is most likely to come next
    cdef Key *last  # the one that came
    cdef int64_t values  # how many may still be read
    cdef int64_t room  # how many items lists may still be given room for
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
        cdef Py_ssize_t total
        if not (
            type(version) is int
            and (version == 3 or version == 0)
            and (limits is None or type(limits) is USUAL_LIMITS)
            and (classes is None or type(classes) is REGISTRY)
            and type(dates) is str
            and (dates == "datetime" or dates == "ms")
        ):
            check_options(version, limits, classes=classes, dates=dates)
        if type(data) is not bytes:
            if isinstance(data, str):
                raise TypeError("AMF is bytes, not str; bytes.fromhex() reads a hex dump")
            data = memoryview(data).tobytes()
        total = PyBytes_GET_SIZE(data)
        self.version = version
        self._data = data
        self.base = self.p = PyBytes_AS_STRING(data)
        self.end = self.base + total
        self._move(offset)
        self._classes = USUAL_CLASSES if classes is None else classes
        self._max_depth = DEPTH_USUAL
        self._max_values = NO_LIMIT
        self.plain = plain
        self.milliseconds = dates == "ms"
        self.counted = True
        if limits is not None:
            self._max_depth = limits.max_depth
            if limits.max_values is not None:
                self._max_values = min(limits.max_values, NO_LIMIT)
            most = limits.max_body
            if most is not None and total - self._offset > most:
                raise DecodeError(f"an input of {total - self._offset} bytes is over the limit of {most}")

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
        self._move(offset)

    @cython.final
    cdef int _move(self, offset) except -1:
        if not 0 <= offset <= PyBytes_GET_SIZE(self._data):
            raise ValueError(f"offset {offset} is outside the input of {PyBytes_GET_SIZE(self._data)} bytes")
        self._offset = offset
        return 0

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
        cdef int read_as = self.version
        if version is not None:
            if version not in (0, 3):
                raise ValueError(f"version is 0 (AMF0) or 3 (AMF3), not {version!r}")
            read_as = 3 if version == 3 else 0
        if self._offset >= PyBytes_GET_SIZE(self._data):
            raise EOFError("all of the input is read")
        return self._read(read_as)

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
            text = owned(self._string())
        except DecodeError as error:
            self._error = error
            raise
        self._offset = self._at()
        return text

    @cython.final
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
                self.values = self._max_values - 1
                self.room = PyBytes_GET_SIZE(self._data) - start
                self.misled = False
                self.standing = 0
                self.p = self.base + start
                value = owned(self._value3(0) if version == 3 else self._value0(0))
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
        self._offset = self._at()
        self._sparse = None
        self._guesses = None
        return value

    # --- what externalizable classes use, through DataInput ----------------------------------------------------------

    def take(self, count):
        """The next `count` bytes of an externalizable's payload."""
        cdef Py_ssize_t at = self._offset
        cdef Py_ssize_t size
        if count < 0:
            raise DecodeError(f"a length of {count} bytes was asked for")
        if count > PyBytes_GET_SIZE(self._data) - at:
            raise self._ends(at, count)
        size = count
        self._offset = at + size
        return owned(PyBytes_FromStringAndSize(<const char *>self.base + at, size))

    def read_object(self):
        """One AMF3 value inside an externalizable's payload."""
        cdef object value
        self.values -= 1
        if self.values < 0:
            raise self._too_many(self._offset)
        self.p = self.base + self._offset
        self.standing = 0
        value = owned(self._value3(self.depth))
        self._offset = self._at()
        return value

    # --- errors ------------------------------------------------------------------------------------------------------

    @cython.final
    cdef object _ends(self, Py_ssize_t at, count, str inside=""):
        cdef Py_ssize_t total = PyBytes_GET_SIZE(self._data)
        left = max(total - at, 0)
        more = f", {inside} not closed" if inside else ""
        return DecodeError(
            f"unexpected end of input: {count} byte{'s' if count != 1 else ''} expected, {left} left{more}",
            min(at, total),
        )

    @cython.final
    cdef object _ends_here(self, Py_ssize_t count):
        return self._ends(self._at(), count)

    @cython.final
    cdef object _too_many(self, Py_ssize_t at):
        return DecodeError(f"more than {self._max_values} values (Limits(max_values=...) sets how many)", at)

    @cython.final
    cdef object _too_deep(self, Py_ssize_t at):
        return DecodeError(
            f"more than {self._max_depth} containers within each other (Limits(max_depth=...) sets how many)", at
        )

    @cython.final
    cdef object _too_long(self, str what, count):
        return DecodeError(f"{what} of {count} does not fit in the {self.end - self.p} bytes that are left", self._at())

    @cython.final
    cdef object _no_slot(self, Py_ssize_t index, Py_ssize_t count, str what, str things, Py_ssize_t start):
        return DecodeError(f"{what} {index}, and only {count} {things} came before", start)

    @cython.final
    cdef inline Py_ssize_t _at(self) noexcept:
        return self.p - self.base

    @cython.final
    cdef inline int _charge(self, int64_t count, const unsigned char *start) except -1:
        self.values -= count
        if self.values < 0:
            raise self._too_many(start - self.base)
        return 0

    # --- parts of values ---------------------------------------------------------------------------------------------

    @cython.final
    cdef inline int64_t _u29(self) except -1:
        """A U29 (AMF3 specification, 1.3.1); longer forms than needed are read too."""
        if self.p < self.end and self.p[0] < 0x80:
            self.p += 1
            return (self.p - 1)[0]
        return self._long_u29()

    @cython.final
    cdef int64_t _long_u29(self) except -1:
        cdef uint32_t number = 0
        cdef int _i
        for _i in range(3):
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

    @cython.final
    cdef PyObject *_text(self, Py_ssize_t size) except NULL:
        """UTF-8, bytes that are none as lone surrogates, so that writing gives them back."""
        cdef PyObject *found
        if size > self.end - self.p:
            raise DecodeError(
                f"a text of {size} bytes runs past the end: {self.end - self.p} are left", self._at()
            )
        if not size:
            Py_INCREF(EMPTY)
            return EMPTY
        found = amf_text(self.p, size)
        self.p += size
        return found

    @cython.final
    cdef inline PyObject *_string(self) except NULL:
        """A text without marker: a name, a key, an alias; in AMF3 also a value's."""
        cdef const unsigned char *p = self.p
        cdef PyObject *found
        cdef Py_ssize_t number
        if p < self.end and p[0] < 0x80:
            number = p[0] >> 1
            if not p[0] & 1:
                if number < self.strings.count:
                    self.p = p + 1
                    found = self.strings.items[number]
                    Py_INCREF(found)
                    return found
            elif 0 < number < self.end - p:
                if self.strings.count == self.strings.room:
                    amf_grow(&self.strings)
                found = amf_text(p + 1, number)
                self.p = p + 1 + number
                add(&self.strings, found)
                return found
        return self._long_string()

    @cython.final
    cdef PyObject *_long_string(self) except NULL:
        cdef const unsigned char *start = self.p
        cdef int64_t head = self._u29()
        cdef object text
        if not head & 1:
            if head >> 1 >= self.strings.count:
                raise self._no_slot(head >> 1, self.strings.count, "string reference", "strings", start - self.base)
            text = <object>self.strings.items[head >> 1]
        else:
            text = owned(self._text(head >> 1))
            if head != 1:
                add(&self.strings, <PyObject *>text)
        return handed(text)

    @cython.final
    cdef PyObject *_text16(self, str inside=NO_TEXT) except NULL:
        cdef Py_ssize_t size
        if self.end - self.p < 2:
            raise self._ends(self._at(), 2, inside)
        size = self.p[0] << 8 | self.p[1]
        self.p += 2
        return self._text(size)

    @cython.final
    cdef int64_t _u32(self) except -1:
        if self.end - self.p < 4:
            raise self._ends_here(4)
        self.p += 4
        return amf_get_u32(self.p - 4)

    @cython.final
    cdef inline PyObject *_double(self, bint whole) except NULL:
        """A double, as an int where it is a whole number and whole ones are wanted."""
        cdef const unsigned char *p = self.p
        if self.end - p < 8:
            raise self._ends_here(8)
        self.p = p + 8
        if whole:
            return amf_number(p)
        return PyFloat_FromDouble(amf_get_double(p))

    @cython.final
    cdef object _date(self):
        """A time in milliseconds since the epoch in UTC, to the microsecond as timedelta rounds it: half to even."""
        cdef double number
        cdef double whole, part, extra
        cdef int64_t micros, rest
        cdef int days, seconds, era, day_of_era, year_of_era, year, day_of_year, month, odd
        if self.end - self.p < 8:
            raise self._ends_here(8)
        self.p += 8
        number = amf_get_double(self.p - 8)
        if self.milliseconds:
            return number
        if number - number != 0.0:  # NaN and the infinities
            return invalid_date
        if fabs(number) <= 1e15:
            micros = <int64_t>number * 1000
            if <double><int64_t>number != number:
                part = modf(modf(number, &whole) * 1000.0, &whole)
                micros += <int64_t>whole
                extra = round(part)
                if fabs(extra - part) == 0.5:
                    odd = <int>(micros & 1)
                    extra = 2.0 * round((part + odd) * 0.5) - odd
                micros += <int64_t>extra
            if FIRST_MICROSECOND <= micros < PAST_MICROSECOND:
                # days since the epoch to a date, counted in eras of 400 years that begin on the first of March
                rest = micros - FIRST_MICROSECOND
                days = <int>(rest // DAY)
                rest -= days * DAY
                seconds = <int>(rest // 1000000)
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
                    seconds // 3600,
                    seconds // 60 % 60,
                    seconds % 60,
                    <int>(rest - <int64_t>seconds * 1000000),
                    UTC,
                )
        raise DecodeError(
            f'the date {number!r} ms is outside the years 1 to 9999 (dates="ms" reads it)', self._at() - 8
        )

    # --- objects that are not complete -------------------------------------------------------------------------------

    @cython.final
    cdef object _made(self, plan, const unsigned char *start):
        """A bare instance of a registered class; PENDING where it can only be made complete."""
        cdef const unsigned char *at = self.p  # a `__new__` may use the decoder, too
        cdef PyObject *found
        if plan.make is None:
            return _PENDING
        if plan.direct is not None:  # then `make` is no more than this
            found = amf_bare(<PyObject *>plan.cls, <PyObject *>NOTHING)
            if found == NULL:
                self._refused(plan, start)
            self.p = at
            return owned(found)
        try:
            made = plan.make()
        except MemoryError:
            raise
        except Exception as error:  # an abstract class, a `__new__` that wants arguments
            raise refuse(plan, error, start - self.base) from error
        self.p = at
        return made

    @cython.final
    cdef int _refused(self, plan, const unsigned char *start) except -1:
        """Raise the error for an instance whose class refused, from the error that is set."""
        try:
            amf_failed()
        except MemoryError:
            raise
        except Exception as error:
            raise refuse(plan, error, start - self.base) from error

    @cython.final
    cdef object _finished(self, plan, instance, members, const unsigned char *start):
        """A complete instance of a registered class."""
        cdef const unsigned char *at = self.p
        cdef Py_ssize_t defaults
        if plan.direct is not None and type(instance) is plan.cls and len(members) == len(plan.direct):
            if self._fill(plan, plan.direct, instance, members, start):
                return instance
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

    @cython.final
    cdef bint _fill(self, plan, dict direct, instance, dict members, const unsigned char *start) except -1:
        """Do what `plan.fill` does when each member of the class came, and no other; False if that is not so."""
        cdef PyObject *name
        for key in members:
            if key not in direct:
                return False
        for key, value in members.items():
            name = PyDict_GetItemWithError(direct, key)
            if name == NULL:
                return False
            if amf_put_new(<PyObject *>instance, name, handed(value)):
                self._refused(plan, start)
        return True

    @cython.final
    cdef object _guess(self, array, const unsigned char *start):
        """What stands in the table for an associative array that may become a list."""
        if not self.plain or self._sparse is not None and start - self.base in self._sparse:
            return array
        if self._guesses is None:
            self._guesses = {}
        guess = []
        self._guesses[id(guess)] = False
        return guess

    @cython.final
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

    @cython.final
    cdef int _stand_in(self, PyObject *value) except -1:
        """A collection's source begins: with `plain` it is what references to the collection mean."""
        while self.standing:
            self.standing -= 1
            put(&self.objects, self._standing.pop(), value)
        return 0

    @cython.final
    cdef int _referred(self, PyObject *value) except -1:
        """Somebody has got hold of what may turn out to be the wrong guess."""
        if self._guesses is not None and id(<object>value) in self._guesses:
            self._guesses[id(<object>value)] = True
        return 0

    # --- AMF3 --------------------------------------------------------------------------------------------------------

    @cython.final
    cdef PyObject *_value3(self, Py_ssize_t depth) except NULL:
        """One AMF3 value inside `depth` containers: the common scalars here, the rest in `_other3`."""
        cdef const unsigned char *p = self.p
        cdef int marker
        cdef int64_t number
        if p >= self.end:
            raise self._ends_here(1)
        marker = p[0]
        self.p = p + 1
        if marker == 0x06:
            return self._string()
        if marker == 0x04:
            number = self._u29()
            return amf_int((number ^ 0x10000000) - 0x10000000)
        if marker == 0x05:
            return self._double(self.plain)
        if marker == 0x0A or marker == 0x09:
            return self._other3(marker, p, depth)
        if marker == 0x01:
            Py_INCREF(Py_None)
            return Py_None
        if marker == 0x03:
            Py_INCREF(Py_True)
            return Py_True
        if marker == 0x02:
            Py_INCREF(Py_False)
            return Py_False
        return self._other3(marker, p, depth)

    @cython.final
    cdef inline PyObject *_nested3(self, Py_ssize_t depth) except NULL:
        """A value that is likely to be an object or an array."""
        cdef const unsigned char *p = self.p
        if self.end - p > 1 and depth < self._max_depth and p[1] < 0x80 and p[1] & 1:
            if p[0] == 0x0A:
                self.p = p + 2
                return self._object3(p[1], p, depth + 1)
            if p[0] == 0x09:
                self.p = p + 2
                return self._array3(p[1] >> 1, p, depth + 1)
        return self._value3(depth)

    @cython.final
    cdef PyObject *_other3(self, int marker, const unsigned char *start, Py_ssize_t depth) except NULL:
        """A value with a slot of the object table (and undefined, and what is no value)."""
        cdef int64_t header, index
        if marker == 0x00:
            return handed(UNDEFINED)
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
            return handed(<object>self.objects.items[index])
        if marker == 0x0A or marker == 0x09 or marker > 0x0C:
            if 0x0D <= marker <= 0x0F:  # numbers nest nothing
                return handed(self._numbers3(marker, header >> 1, start))
            if depth >= self._max_depth:
                raise self._too_deep(start - self.base)
            if marker == 0x0A:
                return self._object3(header, start, depth + 1)
            if marker == 0x09:
                return self._array3(header >> 1, start, depth + 1)
            if marker == 0x11:
                return self._dictionary3(header >> 1, start, depth + 1)
            return self._vector3(header >> 1, start, depth + 1)
        return handed(self._flat3(marker, header >> 1))

    @cython.final
    cdef object _flat3(self, int marker, Py_ssize_t size):
        """A date, bytes or XML: a slot, and nothing inside."""
        cdef object value
        if marker == 0x08:
            value = self._date()
        elif marker == 0x0C:
            if size > self.end - self.p:
                raise self._too_long("a ByteArray", size)
            value = owned(PyBytes_FromStringAndSize(<const char *>self.p, size))
            self.p += size
        else:
            value = Xml(owned(self._text(size)), marker == 0x07)
        add(&self.objects, <PyObject *>value)
        return value

    @cython.final
    cdef PyObject *_list(self, Py_ssize_t count) except NULL:
        """An empty list for `count` items, with room for them unless lists that enclose it claimed too much."""
        if count > self.room:
            count = 0
        self.room -= count
        return amf_roomy_list(count)

    @cython.final
    cdef PyObject *_array3(self, Py_ssize_t count, const unsigned char *start, Py_ssize_t depth) except NULL:
        """An array: a list, or an EcmaArray if it has an associative part (AMF3 specification, 3.11)."""
        cdef PyObject *found
        cdef object items, key
        if count > self.end - self.p:
            raise self._too_long("an array", count)
        self._charge(count, start)
        if self.p < self.end and self.p[0] == 0x01:
            self.p += 1
        else:
            key = owned(self._string())
            if PyUnicode_GET_LENGTH(key):
                return handed(self._associative3(count, key, start, depth))
        found = self._list(count)
        items = owned(found)
        add(&self.objects, found)
        if self.standing:
            self._stand_in(found)
        self._items3(found, count, depth)
        return handed(items)

    @cython.final
    cdef int _items3(self, PyObject *items, Py_ssize_t count, Py_ssize_t depth) except -1:
        """The values of an array."""
        cdef PyObject *item
        while count > 0:
            if amf_is_scalar3(self.p, self.end):
                if self.plain:
                    count -= amf_plain_run3(&self.p, self.end, &self.strings, items, count)
                else:
                    count -= amf_run3(&self.p, self.end, &self.strings, items, count)
                if count == 0:
                    break
            item = self._nested3(depth)
            amf_append_new(items, item)
            count -= 1
        return 0

    @cython.final
    cdef object _associative3(self, Py_ssize_t count, key, const unsigned char *start, Py_ssize_t depth):
        """The associative part, then the dense one, whose values win over the same index before them."""
        cdef object array = ecma_array(count)
        cdef object guess = self._guess(array, start)
        cdef object index
        cdef PyObject *value
        cdef Py_ssize_t i, slot = self.objects.count
        add(&self.objects, <PyObject *>guess)
        if self.standing:
            self._stand_in(<PyObject *>guess)
        self._charge(1, start)
        while True:
            index = index_key(key)
            value = self._value3(depth)
            amf_set_new(<PyObject *>array, <PyObject *>index, value)
            key = owned(self._string())
            if not PyUnicode_GET_LENGTH(key):
                break
            self._charge(1, self.p)
        for i in range(count):
            index = i
            value = self._value3(depth)
            amf_set_new(<PyObject *>array, <PyObject *>index, value)
        return self._becomes(&self.objects, slot, array, guess, start)

    @cython.final
    cdef Traits _new_traits(self, int64_t header):
        """The traits of an object whose U29 is `header`, as they follow."""
        cdef Traits traits = Traits.__new__(Traits)
        cdef int64_t count = header >> 4
        cdef int64_t _i
        cdef list names
        traits.external = (header & 4) != 0
        traits.dynamic = (header & 8) != 0
        traits.alias = owned(self._string())
        if traits.external:
            count = 0
        if count > self.end - self.p:
            raise self._too_long("traits with a member count", count)
        traits.names = NOTHING
        if count:
            names = []
            for _i in range(count):
                names.append(owned(self._string()))
            traits.names = tuple(names)
        traits.form = -1
        if traits.alias:
            traits.plan = self._classes.plan_for(traits.alias)
            if traits.plan is not None:
                traits.form = traits.plan.form
        traits.bare = not (traits.alias or traits.external) and (self.plain or traits.dynamic and not traits.names)
        if traits.form == 0 and traits.plan.direct is not None and not traits.dynamic:
            attributes = tuple([traits.plan.direct.get(name) for name in traits.names])
            # `__new__` has to be object's own: what another one returns need not be a bare instance of the class
            if (
                None not in attributes
                and len(set(attributes)) == len(traits.plan.direct) == len(attributes)
                and traits.plan.cls.__new__ is object.__new__
            ):
                traits.attributes = attributes
                traits.cls = traits.plan.cls
        add(&self.traits, <PyObject *>traits)
        return traits

    @cython.final
    cdef PyObject *_object3(self, int64_t header, const unsigned char *start, Py_ssize_t depth) except NULL:
        """An object (AMF3 specification, 3.12)."""
        cdef Traits traits
        cdef PyObject *found
        cdef object members
        if header & 2:
            traits = self._new_traits(header)
        elif header >> 2 < self.traits.count:
            traits = <Traits>self.traits.items[header >> 2]
        else:
            raise self._no_slot(header >> 2, self.traits.count, "traits reference", "traits", start - self.base)
        if traits.bare or traits.form < 0 and not traits.external:  # nobody registered it
            if traits.bare:
                members = owned(PyDict_New())
            else:
                members = typed_object(traits.alias, traits.names, traits.dynamic)
            found = <PyObject *>members
            add(&self.objects, found)
            if self.standing:
                self._stand_in(found)
            self._members3(traits, found, start, depth)
            return handed(members)
        if traits.external:
            if traits.form == FORM_WRAPPER:
                return handed(self._wrapper3(traits, start, depth))
            return handed(self._external3(traits, start, depth))
        if traits.attributes is not None:
            return self._direct3(traits, start, depth)
        return handed(self._registered3(traits, start, depth))

    @cython.final
    cdef object _registered3(self, Traits traits, const unsigned char *start, Py_ssize_t depth):
        """An instance that its plan fills when all its members are there."""
        cdef object members, instance
        cdef Py_ssize_t slot = self.objects.count
        if traits.form:
            members = instance = typed_object(traits.alias, traits.names, traits.dynamic)
        else:
            members = owned(PyDict_New())
            instance = self._made(traits.plan, start)
            slot = self.objects.count
        add(&self.objects, <PyObject *>instance)
        if self.standing and instance is not _PENDING:
            self._stand_in(<PyObject *>instance)
        self.standing = 0
        self._members3(traits, <PyObject *>members, start, depth)
        if traits.form:  # externalizable, but sent with members: `plain` wants the source
            if not (self.plain and traits.form == FORM_WRAPPER and "source" in members):
                return members
            instance = members["source"]
        else:
            instance = self._finished(traits.plan, instance, members, start)
        put(&self.objects, slot, <PyObject *>instance)
        return instance

    @cython.final
    cdef int _members3(self, Traits traits, PyObject *members, const unsigned char *start, Py_ssize_t depth) except -1:
        """Sealed members in the order of the traits, then dynamic ones up to the empty name."""
        cdef tuple names = traits.names
        cdef Py_ssize_t i, count = len(names)
        cdef const unsigned char *p = self.p
        cdef const unsigned char *end = self.end
        cdef object name
        cdef PyObject *known
        cdef PyObject *value
        if count:
            self._charge(count, start)
            for i in range(count):
                if not amf_scalar3(&p, end, &self.strings, self.plain, &value):
                    self.p = p
                    value = self._nested3(depth)
                    p = self.p
                amf_set_known(members, PyTuple_GET_ITEM(names, i), value)
        if not traits.dynamic:
            self.p = p
            return 0
        while True:
            if p >= end:
                self.p = p
                raise self._ends(self._at(), 1, "object")
            if p[0] == 0x01:
                self.p = p + 1
                return 0
            known = amf_key3(p, &self.strings)
            if known != NULL:
                self._charge(1, p)
                p += 1
            else:
                self.p = p
                name = owned(self._string())
                if not PyUnicode_GET_LENGTH(name):  # the empty name in one of its longer forms
                    return 0
                self._charge(1, p)
                p = self.p
                known = <PyObject *>name
            if not amf_scalar3(&p, end, &self.strings, self.plain, &value):
                name = <object>known  # the table may be cut before the value is complete
                self.p = p
                value = self._nested3(depth)
                p = self.p
            amf_set_known(members, known, value)

    @cython.final
    cdef PyObject *_direct3(self, Traits traits, const unsigned char *start, Py_ssize_t depth) except NULL:
        """An instance whose members all come, and go where `object.__setattr__` would put them."""
        cdef PyObject *found = amf_bare(<PyObject *>traits.cls, <PyObject *>NOTHING)
        cdef const unsigned char *p
        cdef PyObject *value
        cdef object instance
        cdef tuple attributes = traits.attributes
        cdef Py_ssize_t i, count = len(attributes)
        if found == NULL:
            self._refused(traits.plan, start)
        instance = owned(found)
        add(&self.objects, found)
        if self.standing:
            self._stand_in(found)
        self._charge(count, start)
        p = self.p
        for i in range(count):
            if not amf_scalar3(&p, self.end, &self.strings, self.plain, &value):
                self.p = p
                value = self._nested3(depth)
                p = self.p
            if amf_put_new(found, PyTuple_GET_ITEM(attributes, i), value):
                self._refused(traits.plan, start)
        self.p = p
        return handed(instance)

    @cython.final
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
            value = owned(self._value3(depth))
            self.standing = 0
            put(&self.objects, slot, <PyObject *>value)
            return value
        instance = traits.plan.make()
        if traits.dynamic:
            instance.__amf_dynamic__ = True
        add(&self.objects, <PyObject *>instance)
        self._charge(1, start)
        value = owned(self._value3(depth))
        instance.source = value
        return instance

    @cython.final
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

    @cython.final
    cdef PyObject *_dictionary3(self, int64_t count, const unsigned char *start, Py_ssize_t depth) except NULL:
        """A Dictionary (AMF3 specification, 3.16): any values as keys."""
        cdef object found, key, value
        cdef int64_t _i
        cdef bint weak
        if self.p >= self.end:
            raise self._ends_here(1)
        if 2 * count > self.end - self.p:
            raise self._too_long("a Dictionary", count)
        self._charge(2 * count, start)
        weak = self.p[0] == 1
        self.p += 1
        found = Dictionary(weak=weak)
        add(&self.objects, <PyObject *>found)
        if self.standing:
            self._stand_in(<PyObject *>found)
        for _i in range(count):
            key = owned(self._value3(depth))
            value = owned(self._value3(depth))
            self._enter(found, key, value, start)
        return handed(found)

    @cython.final
    cdef int _enter(self, dictionary, key, value, const unsigned char *start) except -1:
        """Put an entry into a Dictionary.  A key of a registered class may fail to be hashed: it may be incomplete."""
        cdef const unsigned char *at = self.p
        try:
            dictionary[key] = value
        except MemoryError:
            raise
        except Exception as error:
            raise DecodeError(
                f"a key of a Dictionary cannot be one: {type(error).__name__}: {said(error)}", start - self.base
            ) from error
        self.p = at
        return 0

    @cython.final
    cdef PyObject *_vector3(self, Py_ssize_t count, const unsigned char *start, Py_ssize_t depth) except NULL:
        """A Vector of objects (AMF3 specification, 3.15)."""
        cdef object vector, alias
        cdef bint fixed
        if self.p >= self.end:
            raise self._ends_here(1)
        fixed = self.p[0] != 0
        self.p += 1
        alias = owned(self._string())
        if count > self.end - self.p:
            raise self._too_long("a Vector", count)
        self._charge(count, start)
        vector = Vector("object", fixed=fixed, alias=alias)
        add(&self.objects, <PyObject *>vector)
        if self.standing:
            self._stand_in(<PyObject *>vector)
        self._items3(<PyObject *>vector, count, depth)
        return handed(vector)

    @cython.final
    cdef object _numbers3(self, int marker, Py_ssize_t count, const unsigned char *start):
        """A Vector of int, uint or Number."""
        cdef Py_ssize_t size = 8 if marker == 0x0F else 4
        cdef const unsigned char *p = self.p
        cdef PyObject *numbers
        cdef PyObject *item
        cdef object held, vector
        cdef bint fixed
        cdef Py_ssize_t _i
        if p >= self.end:
            raise self._ends_here(1)
        if size * count > self.end - p - 1:
            raise self._too_long("a Vector", count)
        self._charge(count, start)
        fixed = p[0] != 0
        p += 1
        self.p = p + size * count
        numbers = amf_roomy_list(count)
        held = owned(numbers)
        for _i in range(count):
            if marker == 0x0F:
                item = PyFloat_FromDouble(amf_get_double(p))
            elif marker == 0x0D:
                item = amf_int(<int><uint32_t>amf_get_u32(p))
            else:
                item = amf_int(amf_get_u32(p))
            amf_append_new(numbers, item)
            p += size
        vector = Vector(VECTOR_NAMES[marker], held, fixed=fixed)
        add(&self.objects, <PyObject *>vector)
        return vector

    # --- AMF0 --------------------------------------------------------------------------------------------------------

    @cython.final
    cdef PyObject *_value0(self, Py_ssize_t depth) except NULL:
        """One AMF0 value inside `depth` containers: the common scalars here, the rest in `_other0`."""
        cdef const unsigned char *p = self.p
        cdef PyObject *found
        cdef Py_ssize_t size
        cdef int marker
        if p >= self.end:
            raise self._ends_here(1)
        marker = p[0]
        p += 1
        self.p = p
        if marker == 0x02:
            if self.end - p > 2:
                size = p[0] << 8 | p[1]
                p += 2
                if 0 < size <= self.end - p:
                    found = amf_text(p, size)
                    self.p = p + size
                    return found
            return self._text16()
        if marker == 0x00:
            return self._double(True)
        if marker == 0x01:
            if p >= self.end:
                raise self._ends_here(1)
            self.p = p + 1
            found = Py_True if p[0] else Py_False
            Py_INCREF(found)
            return found
        if marker == 0x05:
            Py_INCREF(Py_None)
            return Py_None
        return self._other0(marker, p - 1, depth)

    @cython.final
    cdef inline PyObject *_nested0(self, Py_ssize_t depth) except NULL:
        """A value that is likely to be an object or an array."""
        cdef const unsigned char *p = self.p
        if p < self.end and depth < self._max_depth:
            if p[0] == 0x03:
                self.p = p + 1
                return self._object0(depth + 1)
            if p[0] == 0x0A:
                self.p = p + 1
                return self._array0(p, depth + 1)
        return self._value0(depth)

    @cython.final
    cdef PyObject *_other0(self, int marker, const unsigned char *start, Py_ssize_t depth) except NULL:
        cdef Py_ssize_t index
        if marker == 0x06 or marker == 0x0D:
            return handed(UNDEFINED)
        if marker == 0x03 or marker == 0x0A or marker == 0x08 or marker == 0x10:
            if depth >= self._max_depth:
                raise self._too_deep(start - self.base)
            if marker == 0x03:
                return self._object0(depth + 1)
            if marker == 0x0A:
                return self._array0(start, depth + 1)
            if marker == 0x08:
                return handed(self._ecma0(start, depth + 1))
            return handed(self._typed0(start, depth + 1))
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
            return handed(<object>self.slots.items[index])
        if marker == 0x11:
            self.standing = 0
            return self._value3(depth)
        return handed(self._flat0(marker, start))

    @cython.final
    cdef object _flat0(self, int marker, const unsigned char *start):
        """A date, long text or XML, and what is no value."""
        cdef object value
        if marker == 0x0B:
            value = self._date()
            if self.end - self.p < 2:
                raise self._ends_here(2)
            self.p += 2
            return value
        if marker == 0x0C or marker == 0x0F:
            value = owned(self._text(self._u32()))
            if marker == 0x0F:
                value = Xml(value, True)
                add(&self.slots, <PyObject *>value)
            return value
        if marker == 0x09:
            raise DecodeError("an end of object (09) where a value is expected", start - self.base)
        if marker == 0x04 or marker == 0x0E:
            raise DecodeError(f"0x{marker:02X} is reserved in AMF0 and never sent", start - self.base)
        raise DecodeError(f"0x{marker:02X} is no marker of AMF0", start - self.base)

    @cython.final
    cdef PyObject *_array0(self, const unsigned char *start, Py_ssize_t depth) except NULL:
        """A strict array (AMF0 specification, 2.12)."""
        cdef int64_t count = self._u32()
        cdef PyObject *found
        cdef PyObject *item
        cdef object items
        if count > self.end - self.p:
            raise self._too_long("an array", count)
        self._charge(count, start)
        found = self._list(count)
        items = owned(found)
        if self.counted or depth > 1:
            add(&self.slots, found)
        while count > 0:
            if amf_is_scalar0(self.p, self.end):
                count -= amf_run0(&self.p, self.end, found, count)
                if count == 0:
                    break
            item = self._nested0(depth)
            amf_append_new(found, item)
            count -= 1
        return handed(items)

    @cython.final
    cdef PyObject *_object0(self, Py_ssize_t depth) except NULL:
        """An anonymous object (AMF0 specification, 2.5)."""
        cdef PyObject *found = PyDict_New()
        cdef object members = owned(found)
        add(&self.slots, found)
        self._members0(found, depth)
        return handed(members)

    @cython.final
    cdef inline int _members0(self, PyObject *members, Py_ssize_t depth) except -1:
        cdef const unsigned char *p = self.p
        cdef const unsigned char *end = self.end
        cdef object name
        cdef Key *key
        cdef PyObject *known
        cdef PyObject *value
        while True:
            key = self.expected
            if key == NULL or not amf_is_key(key, p, end):
                if end - p > 2 and p[0] == 0 and p[1] == 0 and p[2] == 0x09:
                    self.p = p + 3
                    return 0
                key = self._find(p)
            if key != NULL:
                self._charge(1, p)
                p += key.size
                self.last = key
                self.expected = key.next
                known = key.text
            else:
                self.p = p
                name = self._new_name()
                if name is None:
                    return 0
                p = self.p
                known = <PyObject *>name
            if not amf_scalar0(&p, end, &value):
                name = <object>known  # another may take its place before the value is complete
                self.p = p
                value = self._nested0(depth)
                p = self.p
            amf_set_known(members, known, value)

    @cython.final
    cdef object _typed0(self, const unsigned char *start, Py_ssize_t depth):
        """A typed object (AMF0 specification, 2.18)."""
        cdef object alias = owned(self._text16())
        cdef object plan = self._plan_for(alias) if alias else None
        cdef object members, instance
        cdef Py_ssize_t slot
        if plan is not None and not plan.form:
            members = {}
            instance = self._made(plan, start)
            slot = self.slots.count
            add(&self.slots, <PyObject *>instance)
            self._members0(<PyObject *>members, depth)
            instance = self._finished(plan, instance, members, start)
            put(&self.slots, slot, <PyObject *>instance)
            return instance
        members = typed_object(alias, None, False)
        slot = self.slots.count
        add(&self.slots, <PyObject *>members)
        self._members0(<PyObject *>members, depth)
        if self.plain and plan is not None and plan.form == FORM_WRAPPER and "source" in members:
            instance = members["source"]
            put(&self.slots, slot, <PyObject *>instance)
            return instance
        return members

    @cython.final
    cdef object _plan_for(self, alias):
        """The plan for an alias, looked up once: AMF0 has no traits, each object names its class anew."""
        cdef object plan
        if self._plans is None:
            self._plans = {}
        if alias in self._plans:
            return self._plans[alias]
        plan = self._classes.plan_for(alias)
        self._plans[alias] = plan
        return plan

    @cython.final
    cdef object _ecma0(self, const unsigned char *start, Py_ssize_t depth):
        """An ECMA array (AMF0 specification, 2.10); its declared count is kept and not believed."""
        cdef object array = ecma_array(self._u32())
        cdef object guess = self._guess(array, start)
        cdef object name
        cdef PyObject *value
        cdef Py_ssize_t slot = self.slots.count
        add(&self.slots, <PyObject *>guess)
        while True:
            name = self._name()
            if name is None:
                break
            name = index_key(name)
            value = self._value0(depth)
            amf_set_new(<PyObject *>array, <PyObject *>name, value)
        return self._becomes(&self.slots, slot, array, guess, start)

    @cython.final
    cdef Key *_find(self, const unsigned char *p) noexcept:
        """The key that stands at `p`, if it is one of those kept; the next row will expect it here."""
        cdef Py_ssize_t size
        cdef Key *key
        if self.keys == NULL or self.end - p < 10:
            return NULL
        size = (p[0] << 8 | p[1]) + 2
        if size > KEY_MAX + 2 or size > self.end - p:
            return NULL
        key = &self.keys[amf_key_hash(p, amf_load64(p) & amf_key_mask(size), size) & (KEYS - 2)]
        if not amf_is_key(key, p, self.end):
            key += 1
            if not amf_is_key(key, p, self.end):
                return NULL
        self.last.next = key
        return key

    @cython.final
    cdef object _name(self):
        """The name of the next member, or None where the object ends: an empty name with 09 behind it."""
        cdef Key *key = self._find(self.p)
        if key == NULL:
            return self._new_name()
        self._charge(1, self.p)
        self.p += key.size
        self.last = key
        self.expected = key.next
        return <object>key.text

    @cython.final
    cdef object _new_name(self):
        """A name that is not among the keys kept.

        An empty name with any other marker than 09 behind it is a member named "", which servers do send.
        """
        cdef const unsigned char *start = self.p
        cdef Py_ssize_t size
        cdef object name
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
        name = owned(self._text(size))
        if 0 < size <= KEY_MAX and self.end - start >= 10:
            if self.names < KEYS_FROM:
                self.names += 1
            else:
                self._keep(name, start, size + 2)
        self._charge(1, start)
        return name

    @cython.final
    cdef int _keep(self, name, const unsigned char *data, Py_ssize_t size) except -1:
        """Keep a key, in the first of its two places; the one that was there moves on."""
        cdef uint64_t mask = amf_key_mask(size)
        cdef uint64_t head = amf_load64(data) & mask
        cdef Key *key
        cdef int i
        if self.keys == NULL:
            self.keys = <Key *>PyMem_Calloc(KEYS, sizeof(Key))
            if self.keys == NULL:
                raise MemoryError()
            for i in range(KEYS):
                self.keys[i].reach = PY_SSIZE_T_MAX  # no key yet: never compared
                self.keys[i].next = self.keys
            self.last = self.keys
        key = &self.keys[amf_key_hash(data, head, size) & (KEYS - 2)]
        Py_XDECREF(key[1].text)
        key[1] = key[0]
        key.text = handed(name)
        key.data = data
        key.head = head
        key.mask = mask
        key.size = size
        key.reach = max(size, 8)
        key.next = self.keys
        self.last.next = key
        self.last = key
        self.expected = key.next
        return 0


def loads(
    data,
    *,
    version: int = 3,
    classes: ClassRegistry | None = None,
    limits: Limits | None = None,
    plain: bool = False,
    dates: str = "datetime",
) -> Any:
    """The value that AMF bytes mean: `amfgate.loads`, without a detour through Python."""
    cdef Decoder decoder
    cdef object value
    cdef Py_ssize_t left
    if classes is None and limits is None and plain is False and dates is "datetime" and (version is 3 or version is 0):
        decoder = Decoder.__new__(Decoder, data)
        decoder.version = version
    else:
        decoder = Decoder(data, version=version, classes=classes, limits=limits, plain=plain, dates=dates)
    if decoder.base == decoder.end:
        raise DecodeError("no value: the input is empty", 0)
    try:
        value = decoder._read(decoder.version)
    except DecodeError as error:
        raise explained(error, data) from error.__cause__
    left = decoder.end - decoder.base - decoder._offset
    if left:
        raise explained(DecodeError(f"{left} bytes follow the value", decoder._offset), data)
    return value


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


cdef int _expose_tables() except -1:
    cdef Decoder example = Decoder(b"")
    amf_traverse_tables(<PyObject *>Decoder, <char *>&example.strings - <char *><void *>example)
    return 0


_expose_tables()
