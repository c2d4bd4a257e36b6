/**
 * Schedules: which times a schedule names, and what runs at each of them.
 *
 * <pre>
 *   TimeRule, Timetable     which times are named          pure
 *   Schedule                what a person wrote            a document
 *   ScheduleState           how far it has come            a document
 *        |
 *   Planner                 state + now -> state, starts   pure
 *        |
 *   ScheduleRunner          one commit: state and starts, at the version that was read
 *        |
 *   Target                  adds the work to that commit; tells how it ended
 * </pre>
 *
 * <p>{@link io.millrace.schedules.Schedules} is the entry. Every decision is a function of what is
 * stored and the time, and its commit is refused if something has changed: so a nominal time has
 * one run, however many servers and crashes there are.
 */
@NullMarked
package io.millrace.schedules;

import org.jspecify.annotations.NullMarked;
