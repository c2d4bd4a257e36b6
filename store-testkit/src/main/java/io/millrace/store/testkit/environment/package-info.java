/**
 * A world for stores that stands still until a test moves it: virtual time, seeded randomness, a
 * disk that forgets and tears, and activities stepped by hand.
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
