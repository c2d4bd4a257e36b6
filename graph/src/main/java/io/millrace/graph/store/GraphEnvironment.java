package io.millrace.graph.store;

import java.time.InstantSource;
import java.util.random.RandomGenerator;

/**
 * What a stored graph takes from its surroundings.
 *
 * @param clock tells the times that nodes carry, and how old blobs and lists are
 * @param random draws the secret and names that must not repeat, so it should be hard to guess;
 *     used under a lock by the graph, and by nobody else meanwhile
 */
public record GraphEnvironment(InstantSource clock, RandomGenerator random) {}
