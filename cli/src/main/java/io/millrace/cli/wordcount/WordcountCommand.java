package io.millrace.cli.wordcount;

import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Counts words with killed workers and a killed server, and loses none. */
@Command(
    name = "wordcount",
    description = {
      "Counts the words of files by map and reduce tasks. One server and several workers do it,"
          + " each a process of its own, and are killed with -9 at random while they work: two"
          + " workers and the server at least. No count is lost or doubled.",
      "Words are runs of ASCII letters, in lower case. Without a file it takes a text of its own."
    })
public final class WordcountCommand implements Callable<Integer> {
  private static final int MOST_WORKERS = 64;
  private static final long CLIENTS = 1L << 31;

  private final Terminal terminal;
  private final long startNanos = System.nanoTime();

  @Parameters(
      paramLabel = "FILE",
      arity = "0..*",
      description =
          "The files to count, one after the other as cat gives them; - is standard input.")
  private List<Path> files = List.of();

  @Option(
      names = {"-w", "--workers"},
      paramLabel = "N",
      defaultValue = "3",
      description = "How many worker processes, 1 to 64. Default: ${DEFAULT-VALUE}")
  private int workers;

  @Option(
      names = "--json",
      description =
          "Prints {\"counts\": {word: n}} with every word to standard output, and progress to"
              + " standard error.")
  private boolean json;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Decides who is killed in which order; random by default.")
  private @Nullable Long seed;

  /** On this terminal. */
  public WordcountCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (workers < 1 || workers > MOST_WORKERS) {
      throw new UsageException("--workers must be from 1 to " + MOST_WORKERS + ", not " + workers);
    }
    Path folder = Files.createTempDirectory("millrace-wordcount");
    Thread cleaner = new Thread(() -> remove(folder), "clean");
    Runtime.getRuntime().addShutdownHook(cleaner);
    Path text = Text.of(files, folder, terminal.in());
    List<Chunk> chunks = Splitter.split(text);
    long chosen = seed == null ? System.nanoTime() & 0xffff : seed;
    Random random = new Random(chosen);
    report("seed " + chosen + ", " + workers + " workers");
    Counts counts = count(folder, chunks, random);
    Result result = new Result(counts, text);
    if (json) {
      result.printJson(terminal.out());
    } else {
      result.printTop(terminal.out());
    }
    terminal.out().flush();
    return ExitCode.OK;
  }

  private Counts count(Path folder, List<Chunk> chunks, Random random)
      throws IOException, InterruptedException {
    try (Fleet fleet = new Fleet(folder, random.nextLong(1, CLIENTS))) {
      Thread stop = new Thread(fleet::close, "stop");
      Runtime.getRuntime().addShutdownHook(stop);
      Counts counts = new Demonstration(fleet, workers, random, this::report).run(chunks);
      Runtime.getRuntime().removeShutdownHook(stop);
      return counts;
    }
  }

  private void report(String line) {
    PrintStream target = json ? terminal.err() : terminal.out();
    double seconds = (System.nanoTime() - startNanos) / 1e9;
    target.println(String.format(Locale.ROOT, "%6.1f s  %s", seconds, line));
    target.flush();
  }

  private static void remove(Path folder) {
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    } catch (IOException e) {
      System.err.println("millrace: cannot remove " + folder + ": " + e);
    }
  }
}
