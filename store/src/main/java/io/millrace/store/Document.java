package io.millrace.store;

/**
 * A versioned record beside the tasks, changed in the same transactions.
 *
 * @param key its collection and key
 * @param version grows with every change and is never used twice, not even after a delete; drawn
 *     from the same counter as task ids
 * @param body what its users put in; never interpreted
 */
public record Document(DocumentKey key, long version, Bytes body) {}
