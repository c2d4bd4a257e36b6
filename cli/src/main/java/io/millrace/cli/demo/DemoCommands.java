package io.millrace.cli.demo;

import io.millrace.cli.remote.CommandGroup;
import io.millrace.cli.terminal.Durations;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Table;
import io.millrace.cli.terminal.TerminalUser;
import io.millrace.cli.terminal.UsageException;
import io.millrace.examples.failover.Failover;
import io.millrace.examples.wordcount.Result;
import io.millrace.examples.wordcount.Wordcount;
import io.millrace.examples.wordcount.WordcountWorker;
import io.millrace.store.environment.DurationText;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code millrace demo}: programs that kill processes at work and check the result. */
@Command(name = "demo", description = "Runs demonstrations of fault tolerance.")
public final class DemoCommands extends CommandGroup {
  /** The group with its commands. */
  public CommandLine group() {
    CommandLine demo = with();
    demo.addSubcommand(new WordcountCommand());
    demo.addSubcommand(new WordcountWorkerCommand());
    demo.addSubcommand(new FailoverCommand());
    return demo;
  }

  /** The command that starts this program again, by the launcher if there is one. */
  private static List<String> millrace() {
    String launcher = System.getProperty("millrace.launcher");
    return launcher != null
        ? List.of(launcher)
        : List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            "io.millrace.cli.Millrace");
  }

  @Command(
      name = "wordcount",
      description = {
        "Counts the words of files by map and reduce tasks. One server and several workers run as"
            + " separate processes. At least two workers and the server are killed with -9 at"
            + " random while they work; no count is lost or doubled.",
        "A word is a run of ASCII letters, in lower case. Without a file, a text that comes with"
            + " Millrace is counted."
      })
  private static final class WordcountCommand extends TerminalUser implements Callable<Integer> {
    private static final int MOST_FREQUENT = 10;
    private static final int SHOWN_LETTERS = 40;

    private final long startNanos = System.nanoTime();

    @Parameters(
        paramLabel = "FILE",
        arity = "0..*",
        description = "The files to count, joined in this order; - is standard input.")
    private List<Path> files = List.of();

    @Option(
        names = {"-w", "--workers"},
        paramLabel = "N",
        defaultValue = "3",
        description = "The number of worker processes, 1 to 64. Default: ${DEFAULT-VALUE}")
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
        description = "Decides which process is killed when. Default: random")
    private @Nullable Long seed;

    @Override
    public Integer call() throws IOException, InterruptedException {
      if (workers < 1 || workers > Wordcount.MAX_WORKERS) {
        throw new UsageException(
            "--workers must be from 1 to " + Wordcount.MAX_WORKERS + ", not " + workers);
      }
      long chosen = seed == null ? System.nanoTime() & 0xffff : seed;
      var options = new Wordcount.Options(millrace(), workers, chosen);
      Result result = Wordcount.count(files, terminal().in(), options, this::report);
      if (json) {
        result.printJson(out());
      } else {
        print(result);
      }
      out().flush();
      return ExitCode.OK;
    }

    private void print(Result result) throws IOException {
      out()
          .printf(
              "%d words, %d of them different; the most frequent:%n",
              result.words(), result.differentWords());
      Table table = new Table("COUNT", "WORD");
      for (Map.Entry<String, Long> word : result.mostFrequent(MOST_FREQUENT, SHOWN_LETTERS)) {
        table.row(word.getValue(), word.getKey());
      }
      table.print(out());
    }

    private void report(String line) {
      PrintStream target = json ? terminal().err() : out();
      double seconds = (System.nanoTime() - startNanos) / 1e9;
      target.println(String.format(Locale.ROOT, "%6.1f s  %s", seconds, line));
      target.flush();
    }
  }

  @Command(
      name = "wordcount-worker",
      hidden = true,
      description = "A worker process of 'demo wordcount'.")
  private static final class WordcountWorkerCommand implements Callable<Integer> {
    @Option(names = "--server", required = true, description = "The server.")
    private String server = "";

    @Option(names = "--client", required = true, description = "The client id of this worker.")
    private long client;

    @Option(names = "--parent", required = true, description = "Ends when this process has ended.")
    private long parent;

    @Override
    public Integer call() {
      ProcessHandle demo = ProcessHandle.of(parent).orElse(null);
      if (demo == null) {
        return ExitCode.FAILURE;
      }
      WordcountWorker.run(URI.create(server), client, demo);
      return ExitCode.OK;
    }
  }

  @Command(
      name = "failover",
      description = {
        "Starts three servers that share a store, puts them under load, and kills the one that"
            + " leads with -9 every few seconds, while the others take over. Draws the commits of"
            + " each second, and counts at the end what was acknowledged, lost and finished twice.",
        "Exits with 1 if anything was lost or finished twice."
      })
  private static final class FailoverCommand extends TerminalUser implements Callable<Integer> {
    private final long startNanos = System.nanoTime();

    @Option(
        names = "--store",
        paramLabel = "URL",
        description =
            "The store, as 'millrace up --store' takes it. Default: a SQLite file in a temporary"
                + " folder")
    private @Nullable String store;

    @Option(
        names = "--set",
        paramLabel = "KEY=VALUE",
        description =
            "A setting of each server, for example --set store.user=millrace; can be repeated.")
    private Map<String, String> settings = new LinkedHashMap<>();

    @Option(
        names = "--for",
        paramLabel = "TIME",
        defaultValue = "30s",
        converter = Durations.class,
        description = "How long it takes, 5s to 1h. Default: ${DEFAULT-VALUE}")
    private Duration length = Duration.ZERO;

    @Option(
        names = "--kill-every",
        paramLabel = "TIME",
        defaultValue = "7s",
        converter = Durations.class,
        description = "The time between two kills, at least 1s. Default: ${DEFAULT-VALUE}")
    private Duration every = Duration.ZERO;

    @Option(
        names = "--seed",
        paramLabel = "N",
        description = "Decides the exact times of the kills. Default: random")
    private @Nullable Long seed;

    @Override
    public Integer call() throws IOException, InterruptedException {
      if (length.toSeconds() < 5 || length.toHours() > 1) {
        throw new UsageException("--for must be from 5s to 1h, not " + DurationText.show(length));
      }
      if (every.toSeconds() < 1) {
        throw new UsageException(
            "--kill-every must be at least 1s, not " + DurationText.show(every));
      }
      if (store != null && store.startsWith("file:")) {
        throw new UsageException("--store must be a database, since a folder has one server");
      }
      long chosen = seed == null ? System.nanoTime() & 0xffff : seed;
      List<String> more =
          settings.entrySet().stream()
              .map(each -> "--set=" + each.getKey() + "=" + each.getValue())
              .toList();
      Failover.Result result =
          Failover.run(
              new Failover.Options(millrace(), store, more, length, every, chosen), this::report);
      out()
          .printf(
              "%d commands acknowledged: %d tasks added, %d finished; leader killed %d times,"
                  + " longest pause %.1f s%n",
              result.commits(),
              result.added(),
              result.finished(),
              result.kills(),
              result.longestPause().toMillis() / 1e3);
      out().printf("%d lost, %d finished twice%n", result.lost(), result.twice());
      out().flush();
      return result.isRight() ? ExitCode.OK : ExitCode.FAILURE;
    }

    private void report(String line) {
      double seconds = (System.nanoTime() - startNanos) / 1e9;
      out().println(String.format(Locale.ROOT, "%6.1f s  %s", seconds, line));
      out().flush();
    }
  }
}
