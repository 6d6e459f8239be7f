// covers: an OMPT tool sees target, submit and data operations of every construct, EMI callbacks
// tool: ompt_tool_emi.c
#include "../support/ompt_workload.h"
