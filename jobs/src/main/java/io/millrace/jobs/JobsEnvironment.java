package io.millrace.jobs;

import java.time.InstantSource;
import java.util.random.RandomGenerator;

/**
 * What the registry takes from its surroundings.
 *
 * @param clock tells the times that jobs carry
 * @param random draws ids; used under a lock by the registry, and by nobody else meanwhile
 */
public record JobsEnvironment(InstantSource clock, RandomGenerator random) {}
