/**
 * Simulated environments for stores: settable time, seeded randomness, a disk that can lose and
 * tear writes, and activities that are stepped explicitly.
 *
 * <pre>
 *   SimulatedEnvironment --- VirtualClock          moves only when told
 *            |          --- StepScheduler          one thread, seeded order
 *            |          --- SimulatedDisk          crashes, faults, power cuts
 *   SettableTimeEnvironment                        the same clock and disk under real threads
 *   FaultyStore                                    a store behind an unreliable connection
 * </pre>
 */
@NullMarked
package io.millrace.store.testkit.environment;

import org.jspecify.annotations.NullMarked;
