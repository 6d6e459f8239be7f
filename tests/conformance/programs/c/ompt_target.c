// covers: an OMPT tool sees target, submit and data operations of every construct, plain callbacks
// tool: ompt_tool.c
#include "../support/ompt_workload.h"
