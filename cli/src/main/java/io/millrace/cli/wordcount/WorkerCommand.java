package io.millrace.cli.wordcount;

import io.millrace.cli.terminal.ExitCode;
import io.millrace.client.HttpTaskStore;
import io.millrace.client.Worker;
import io.millrace.client.WorkerOptions;
import io.millrace.store.Owner;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** One worker process of the demonstration: works until it or its parent is killed. */
@Command(
    name = "wordcount-worker",
    hidden = true,
    description = "A worker process of 'demo wordcount'.")
public final class WorkerCommand implements Callable<Integer> {
  /** How long a killed worker's task stays its own. */
  private static final Duration LEASE = Duration.ofSeconds(2);

  private static final Duration RETRY = Duration.ofMillis(20);

  @Option(names = "--server", required = true, description = "The server.")
  private String server = "";

  @Option(names = "--client", required = true, description = "Its client id.")
  private long client;

  @Option(names = "--parent", required = true, description = "Ends when this process has ended.")
  private long parent;

  /** To be filled from the command line. */
  public WorkerCommand() {}

  @Override
  public Integer call() {
    ProcessHandle demo = ProcessHandle.of(parent).orElse(null);
    if (demo == null) {
      return ExitCode.FAILURE;
    }
    WorkerOptions options =
        WorkerOptions.of(Names.REDUCE, Names.MAP)
            .withClient(Owner.client(client))
            .withLease(LEASE)
            .withPoison(new WorkerOptions.Poison(0, ".quarantine", RETRY));
    try (HttpTaskStore store = HttpTaskStore.open(URI.create(server))) {
      Worker worker = Worker.start(store, options, new WordWorker(store));
      demo.onExit().join();
      worker.close();
    }
    return ExitCode.OK;
  }
}
