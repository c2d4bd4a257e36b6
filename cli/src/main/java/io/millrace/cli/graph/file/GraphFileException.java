package io.millrace.cli.graph.file;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** A file is not a valid graph file; {@link #mistakes()} lists all mistakes. */
public final class GraphFileException extends RuntimeException {
  private final transient List<Mistake> mistakes;

  private GraphFileException(List<Mistake> mistakes) {
    super(mistakes.getFirst().message());
    this.mistakes =
        mistakes.stream().sorted(Comparator.comparingInt(Mistake::line)).distinct().toList();
  }

  /** With one mistake. */
  GraphFileException(int line, String message) {
    this(List.of(new Mistake(line, message)));
  }

  /** All mistakes, in the order of their lines. */
  public List<Mistake> mistakes() {
    return mistakes;
  }

  /**
   * A mistake in a file.
   *
   * @param line the line, from 1
   * @param message what is wrong
   */
  public record Mistake(int line, String message) {}

  /** Collects the mistakes in a file, so that all of them are reported at once. */
  static final class Mistakes {
    private final List<Mistake> found = new ArrayList<>();

    void add(int line, String message) {
      found.add(new Mistake(line, message));
    }

    int size() {
      return found.size();
    }

    /** Throws the mistakes, if there are any. */
    void check() {
      if (!found.isEmpty()) {
        throw new GraphFileException(found);
      }
    }
  }
}
