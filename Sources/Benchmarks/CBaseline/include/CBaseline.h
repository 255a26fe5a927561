#ifndef CFLOOR_H
#define CFLOOR_H

#include "BaselineStore.h"
#include "FaultInjection.h"

#endif
