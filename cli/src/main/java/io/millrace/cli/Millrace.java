package io.millrace.cli;

import io.millrace.bench.BenchCommand;
import io.millrace.cli.access.AccessCommands;
import io.millrace.cli.access.AuditCommand;
import io.millrace.cli.archive.ArchiveCommands;
import io.millrace.cli.bulk.BulkCommands;
import io.millrace.cli.cluster.ClusterCommands;
import io.millrace.cli.cluster.MemberCommand;
import io.millrace.cli.demo.DemoCommands;
import io.millrace.cli.graph.GraphCommands;
import io.millrace.cli.jobs.JobsCommands;
import io.millrace.cli.jobs.WorkerCommand;
import io.millrace.cli.jobs.WorkersCommand;
import io.millrace.cli.limits.LimitsCommands;
import io.millrace.cli.log.Logs;
import io.millrace.cli.queues.ConfigCommands;
import io.millrace.cli.queues.NodesCommands;
import io.millrace.cli.queues.QueuesCommands;
import io.millrace.cli.queues.RunnerCommand;
import io.millrace.cli.remote.WhyCommand;
import io.millrace.cli.schedules.SchedulesCommands;
import io.millrace.cli.serve.NodeCommand;
import io.millrace.cli.serve.UpCommand;
import io.millrace.cli.store.StoreCommands;
import io.millrace.cli.tasks.TasksCommands;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.TerminalUser;
import io.millrace.cli.terminal.UsageException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The program that the launcher starts. */
@Command(
    name = "millrace",
    description =
        "Runs work on many machines and survives crashes: a task store, queues, jobs, graphs and"
            + " clusters.",
    versionProvider = Millrace.Version.class,
    footer = {
      "",
      "Start a server with 'millrace up'; it is ready when it prints its address.",
      "'millrace COMMAND --help' explains a command."
    })
public final class Millrace implements Runnable {
  private static final int WIDTH = 100;

  @Spec private CommandSpec spec = CommandSpec.create();

  private Millrace() {}

  /** Runs one command and exits with its code. */
  public static void main(String[] args) {
    if (args.length == 1 && (args[0].equals("--version") || args[0].equals("-V"))) {
      // Scripts run this often, and most of the start time is loading the parser.
      System.out.println(Version.text());
      return;
    }
    Terminal terminal = Terminal.system();
    try {
      Logs.configure(System.getenv(), args);
    } catch (UsageException e) {
      terminal.say(String.valueOf(e.getMessage()));
      System.exit(ExitCode.USAGE);
    }
    System.exit(run(terminal, args));
  }

  /** Runs one command and gives its exit code. */
  public static int run(Terminal terminal, String... args) {
    return commandLine(terminal).execute(args);
  }

  private static CommandLine commandLine(Terminal terminal) {
    CommandLine top = new CommandLine(new Millrace());
    top.addSubcommand("up", new UpCommand());
    top.addSubcommand("node", new NodeCommand());
    top.addSubcommand("store", new StoreCommands().group());
    top.addSubcommand("queues", new QueuesCommands().group());
    top.addSubcommand("tasks", new TasksCommands().group());
    top.addSubcommand("nodes", new NodesCommands().group());
    top.addSubcommand("config", new ConfigCommands().group());
    top.addSubcommand("jobs", new JobsCommands().group());
    top.addSubcommand("graph", new GraphCommands().group());
    top.addSubcommand("schedules", new SchedulesCommands().group());
    top.addSubcommand("limits", new LimitsCommands().group());
    top.addSubcommand("why", new WhyCommand());
    top.addSubcommand("bulk", new BulkCommands().group());
    top.addSubcommand("archive", new ArchiveCommands().group());
    top.addSubcommand("cluster", new ClusterCommands().group());
    top.addSubcommand("member", new MemberCommand());
    top.addSubcommand("workers", new WorkersCommand());
    CommandLine worker = new CommandLine(new WorkerCommand());
    top.addSubcommand("worker", worker);
    // Options after the first word belong to the command that the worker runs.
    worker.setStopAtPositional(true);
    top.addSubcommand("access", new AccessCommands().group());
    top.addSubcommand("audit", new AuditCommand());
    top.addSubcommand("bench", new BenchCommand());
    top.addSubcommand("demo", new DemoCommands().group());
    top.addSubcommand("runner", new RunnerCommand());
    top.addSubcommand("help", new CommandLine.HelpCommand());
    top.setOut(new PrintWriter(terminal.out(), true, StandardCharsets.UTF_8));
    top.setErr(new PrintWriter(terminal.err(), true, StandardCharsets.UTF_8));
    top.setUsageHelpWidth(WIDTH);
    top.setCaseInsensitiveEnumValuesAllowed(true);
    // Data may begin with @, and some options read @FILE themselves.
    top.setExpandAtFiles(false);
    ErrorMessages errors = new ErrorMessages(terminal.err());
    top.setExecutionExceptionHandler(errors);
    top.setParameterExceptionHandler(errors);
    everywhere(top, terminal);
    return top;
  }

  /** Gives every command the terminal, --help and --version. */
  private static void everywhere(CommandLine command, Terminal terminal) {
    CommandSpec spec = command.getCommandSpec();
    if (spec.findOption("--help") == null) {
      // Not with picocli's mixin, which must come first among the options of a method.
      spec.addOption(
          help("-h", "--help", "Show this help message and exit.").usageHelp(true).build());
      spec.addOption(
          help("-V", "--version", "Print version information and exit.").versionHelp(true).build());
    }
    use(spec, terminal);
    spec.mixins().values().forEach(mixin -> use(mixin, terminal));
    command.getSubcommands().values().forEach(each -> everywhere(each, terminal));
  }

  private static OptionSpec.Builder help(String letter, String name, String description) {
    return OptionSpec.builder(letter, name).type(boolean.class).description(description);
  }

  private static void use(CommandSpec spec, Terminal terminal) {
    if (spec.userObject() instanceof TerminalUser user) {
      user.use(terminal);
    }
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "a command is missing");
  }

  /** The version of Millrace. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {text()};
    }

    /** The version of the jar; {@code development} if the classes do not come from a jar. */
    static String text() {
      String version = Version.class.getPackage().getImplementationVersion();
      return "millrace " + (version == null ? "development" : version);
    }
  }
}
