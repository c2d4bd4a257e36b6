package io.millrace.store;

/**
 * A versioned record that is changed in the same transactions as tasks.
 *
 * @param key its collection and key
 * @param version increases with every change and is never used twice, not even after a delete; from
 *     the same counter as task ids
 * @param body its content, which the store does not interpret, except in templates
 */
public record Document(DocumentKey key, long version, Bytes body) {}
