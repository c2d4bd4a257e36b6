package io.millrace.graph.type;

import io.millrace.graph.Definition.Kind;
import io.millrace.graph.GraphException.InvalidGraphException;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/**
 * A type of graph nodes. Safe for use by any number of threads.
 *
 * <p>A type does not decide whether an attempt is repeated, how long it may take or what follows
 * from a kill: {@code retries}, {@code backoff} and {@code timeout} are data of every node that
 * works.
 */
public interface NodeType {
  /** Its name in the API, for example {@code shell command}. */
  String name();

  /** What the graph must know about it; {@link Kind#WORK} by default. */
  default Kind kind() {
    return Kind.WORK;
  }

  /** The keys of data that it reads; they change only while a node waits. None by default. */
  default Set<String> inputs() {
    return Set.of();
  }

  /**
   * The keys of data that it writes; nobody else can write them. They exist from the start, empty.
   * None by default.
   */
  default Set<String> outputs() {
    return Set.of();
  }

  /**
   * Checks the data of a new node, or of a node whose data changes. Accepts anything by default.
   *
   * @param inputs those of {@link #inputs()} that are set, by key
   * @throws InvalidGraphException if the data is not valid; the message names the key and says what
   *     is wrong
   */
  default void check(Map<String, JsonNode> inputs) {}

  /** Whether an attempt takes one of the limited places for commands. By default it does not. */
  default boolean takesPlace() {
    return false;
  }

  /**
   * Begins an attempt, quickly. The start of the node is recorded already, and this attempt has not
   * begun before.
   *
   * @return the attempt; it has ended already if it could not begin
   */
  Attempt start(AttemptContext work);

  /**
   * Finds an attempt again that was running when the server stopped. If {@link #start} had not
   * returned by then and nothing is found, {@code start} is called for the same attempt, so
   * anything that it begins elsewhere must be found by the node and the number of the attempt.
   *
   * @return the attempt, running or ended; empty if nothing is left of it. By default, it is
   *     started again, for types whose {@code start} finds what it has begun
   */
  default Optional<Attempt> resume(AttemptContext work) {
    return Optional.of(start(work));
  }
}
