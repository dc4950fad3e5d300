/*
 * everything.cpp - the same program as C++: all of weir.h, with its inline functions, in that language.
 */
#include "everything.c"
