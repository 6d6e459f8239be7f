#include "header.h"
void f(void) { log_value(3); }
