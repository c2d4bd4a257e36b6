package io.millrace.store.kernel;

import io.millrace.store.Document;
import io.millrace.store.kernel.records.Event;

/**
 * A state as it was at one position. Immutable and safe for use by any thread.
 *
 * @param lastId the largest id or version given so far
 * @param commits the number of commits so far
 * @param timeMillis the store time of the last of them
 * @param groups the groups by name
 * @param documents the documents by key
 * @param requests the remembered requests by age
 */
record FrozenState(
    long lastId,
    long commits,
    long timeMillis,
    FrozenTree<Group> groups,
    FrozenTree<Document> documents,
    Iterable<Event> requests) {}
