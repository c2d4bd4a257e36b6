package io.millrace.store;

/**
 * A group that is not empty, with how many tasks it has.
 *
 * @param name its name
 * @param waiting tasks that can be claimed
 * @param delayed tasks whose time has not come and that nobody owns
 * @param owned tasks that a client owns, through a claim or not
 * @param claimed those of the owned that are held through a claim: what claim limits count
 */
public record GroupSummary(String name, long waiting, long delayed, long owned, long claimed) {}
