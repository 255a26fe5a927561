#ifndef CFLOOR_H
#define CFLOOR_H

#include "AllocationCount.h"
#include "BaselineServer.h"
#include "BaselineStore.h"
#include "FaultInjection.h"

#endif
