package io.millrace.store;

import java.util.List;

/**
 * A change of the store that happened.
 *
 * @param position where it stands in history
 * @param timeMillis the store time at which it was decided
 * @param client the client that asked for it
 * @param override whether an operator's right over tasks of other owners was used
 * @param changes what it did, in order; a filtered subscription sees only its part
 */
public record Commit(
    Position position, long timeMillis, Owner client, boolean override, List<Change> changes) {}
