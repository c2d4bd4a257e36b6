package io.millrace.cli.jobs;

import io.millrace.cli.log.ProcessLog;
import io.millrace.cli.remote.SecretFile;
import io.millrace.cli.remote.ServerAddress;
import io.millrace.cli.remote.ServerLocation;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.StopSignals;
import io.millrace.cli.terminal.TerminalUser;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.jobs.JobWorker;
import io.millrace.client.jobs.JobWorkerOptions;
import io.millrace.processes.CannotStartException;
import io.millrace.processes.ProcessLauncher;
import io.millrace.processes.Watchdog;
import io.millrace.queues.node.LocalMachine;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** A worker that runs a command for each job. */
@Command(
    name = "worker",
    description = {
      "Runs a worker that runs a command for each job. The payload is its standard input, its"
          + " standard output is the result, and exit code 0 means success.",
      "A line like 'progress: 40 half done' on standard error reports progress; all other lines are"
          + " kept if the job fails. On SIGTERM or SIGINT the worker takes no more jobs and ends"
          + " when its jobs have ended; a second signal kills them."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:stopped on request",
      "1:the server rejects the worker, or a second signal killed its jobs, which are offered to"
          + " other workers",
      "2:the command line is wrong"
    })
public final class WorkerCommand extends TerminalUser implements Callable<Integer> {
  private static final String VARIABLE = "MILLRACE_WORKER_TOKEN";

  private final AtomicInteger stops = new AtomicInteger();

  @Mixin private ServerAddress server = new ServerAddress();

  @Option(
      names = {"-t", "--type"},
      paramLabel = "TYPE",
      defaultValue = "",
      description = "The job type, if the server has job types.")
  private String type = "";

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description = "A display name. Default: the host name")
  private @Nullable String name;

  @Option(
      names = "--id",
      paramLabel = "ID",
      description =
          "An id that no other worker has. A job that failed is not given to the same id again,"
              + " also after a restart. Default: --name, or else the host name and the process"
              + " number")
  private @Nullable String id;

  @Option(
      names = "--worker-token-file",
      paramLabel = "FILE",
      description =
          "A file with the worker token of the job server. Default: the environment variable "
              + VARIABLE
              + ", or none")
  private @Nullable Path workerTokenFile;

  @Option(
      names = {"-j", "--concurrency"},
      paramLabel = "N",
      defaultValue = "1",
      description = "The number of jobs to run at a time, 1 to 1000. Default: ${DEFAULT-VALUE}")
  private int concurrency;

  @Parameters(
      arity = "1..*",
      paramLabel = "COMMAND",
      description =
          "The command and its arguments, best written after --; they are not interpreted by a"
              + " shell.")
  private List<String> command = List.of();

  @Override
  public Integer call() {
    JobWorkerOptions options = options();
    terminal()
        .warn(
            ServerLocation.warning(
                options.server().server(),
                options.server().token() != null
                    ? "token"
                    : options.identity().token().isEmpty() ? null : "worker token"));
    checkCommand();
    ProcessLog log = ProcessLog.starting("worker " + options.identity().name());
    int code = ExitCode.FAILURE;
    try {
      code = run(options, log);
      return code;
    } finally {
      log.stopped(code);
    }
  }

  private int run(JobWorkerOptions options, ProcessLog log) {
    try (Watchdog watchdog = new Watchdog(ProcessLauncher.create(), null);
        JobWorker worker = JobWorker.start(options, new CommandHandler(command, type, watchdog))) {
      StopSignals.listen(() -> stop(worker, log));
      var _ = worker.onReady().thenRun(() -> ready(options));
      worker.onEnd().join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw e;
    }
    return stops.get() > 1 ? ExitCode.FAILURE : ExitCode.OK;
  }

  private JobWorkerOptions options() {
    String called = name == null ? LocalMachine.hostName() : name;
    // Workers of one machine must differ, or none gets what failed on the other.
    String unique = name == null ? called + "-" + ProcessHandle.current().pid() : name;
    String token = SecretFile.readOptional("worker token", workerTokenFile, VARIABLE);
    try {
      return JobWorkerOptions.at(server.client().server(), called)
          .withServer(server.client())
          .withType(type)
          .withId(id == null ? unique : id)
          .withToken(token == null ? "" : token)
          .withConcurrency(concurrency);
    } catch (IllegalArgumentException e) {
      throw new UsageException(String.valueOf(e.getMessage()), e);
    }
  }

  /** Reports a mistake in the command now, rather than with every job. */
  private void checkCommand() {
    String program = command.getFirst();
    if (program.isEmpty() || program.startsWith("-")) {
      throw new UsageException("not a command: '" + program + "'");
    }
    try {
      ProcessLauncher.checkProgram(program, Path.of(""), System.getenv().getOrDefault("PATH", ""));
    } catch (CannotStartException e) {
      throw new UsageException(String.valueOf(e.getMessage()), e);
    }
  }

  private void ready(JobWorkerOptions options) {
    out()
        .printf(
            "Millrace worker %s takes jobs from %s (%s%d at a time)%n",
            options.identity().name(),
            options.server().server(),
            type.isEmpty() ? "" : "type " + type + ", ",
            options.concurrency());
    out().flush();
  }

  private void stop(JobWorker worker, ProcessLog log) {
    log.stopping();
    if (stops.incrementAndGet() == 1) {
      int busy = worker.busy();
      if (busy > 0) {
        String jobs = busy == 1 ? "1 job has" : busy + " jobs have";
        terminal().say("stopping when " + jobs + " ended; send the signal again to kill");
      }
      worker.leave();
    } else {
      boolean _ = worker.stop(Duration.ZERO);
    }
  }
}
