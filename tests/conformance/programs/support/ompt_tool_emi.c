// The logging tool with the EMI callbacks.
#define OMPT_TOOL_EMI
#include "ompt_tool.c"
