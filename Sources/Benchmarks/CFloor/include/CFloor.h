#ifndef CFLOOR_H
#define CFLOOR_H

#include "FloorStore.h"
#include "FaultInjection.h"

#endif
