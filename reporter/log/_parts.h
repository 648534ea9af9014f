/* The events of the requests of an archive, from an Arrow stream of its parts. */
#ifndef LOADGEN_PARTS_H
#define LOADGEN_PARTS_H

#include <stdbool.h>

#include "_arrow.h"
#include "_events.h"

/* Give `take` the events of each part in the order of their numbers; it returns whether it wants more. A batch without
 * rows ends a part. The columns are seq, code, at_ns, request, request_name, data and chunk_gaps_us.
 * False: not all were read, for there are other types, the stream fails, or a part is in too little order. */
bool read_parts(struct ArrowArrayStream *, bool (*take)(void *, const event *), void *to);

#endif
