package io.millrace.graph.type;

import io.millrace.graph.Definition.Kind;
import io.millrace.graph.GraphException.InvalidGraphException;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/**
 * Something that a graph node can be. Safe for use by any number of threads.
 *
 * <p>Whether an attempt is repeated, how long it may take and what a kill makes of it is not the
 * type's business: {@code retries}, {@code backoff} and {@code timeout} are data of every node that
 * works.
 */
public interface NodeType {
  /** Its name in the API, as in {@code shell command}. */
  String name();

  /** What the graph must know of it; {@link Kind#WORK} by default. */
  default Kind kind() {
    return Kind.WORK;
  }

  /** The keys of data that it reads; they change only while a node waits. None by default. */
  default Set<String> inputs() {
    return Set.of();
  }

  /**
   * The keys of data that it writes, which nobody else can; they are there from the start, empty.
   * None by default.
   */
  default Set<String> outputs() {
    return Set.of();
  }

  /**
   * Checks the data of a new node, or of one whose data changes. By default all is well.
   *
   * @param inputs by key, those of {@link #inputs()} that are set
   * @throws InvalidGraphException if it cannot work with them; the message names the key and says
   *     what is wrong
   */
  default void check(Map<String, JsonNode> inputs) {}

  /** Whether an attempt takes one of the limited places for commands. By default it does not. */
  default boolean takesPlace() {
    return false;
  }

  /**
   * Begins an attempt, quickly. The start of the node is recorded already, and nothing has begun
   * before.
   *
   * @return the attempt; one that failed to begin has ended
   */
  Attempt start(AttemptContext work);

  /**
   * Finds an attempt again that was running when the server stopped. If {@link #start} had not
   * returned by then and nothing is found, {@code start} is called for the same attempt, so what it
   * begins elsewhere must be found by the node and the number of the attempt.
   *
   * @return the attempt, running or ended; empty if nothing is left of it. By default it is started
   *     again, for types whose {@code start} finds what it has begun
   */
  default Optional<Attempt> resume(AttemptContext work) {
    return Optional.of(start(work));
  }
}
