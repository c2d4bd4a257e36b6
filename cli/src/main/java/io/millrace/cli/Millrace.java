package io.millrace.cli;

import io.millrace.bench.BenchCommand;
import io.millrace.cli.access.AccessCommands;
import io.millrace.cli.access.AuditCommand;
import io.millrace.cli.archive.ArchiveCommands;
import io.millrace.cli.bulk.BulkCommands;
import io.millrace.cli.cluster.ClusterCommands;
import io.millrace.cli.cluster.MemberCommand;
import io.millrace.cli.demo.DemoCommands;
import io.millrace.cli.doctor.DoctorCommand;
import io.millrace.cli.graph.GraphCommands;
import io.millrace.cli.jobs.JobsCommands;
import io.millrace.cli.jobs.WorkerCommand;
import io.millrace.cli.jobs.WorkersCommand;
import io.millrace.cli.limits.LimitsCommands;
import io.millrace.cli.log.Logs;
import io.millrace.cli.manual.CompletionCommand;
import io.millrace.cli.manual.Examples;
import io.millrace.cli.manual.ManualCommand;
import io.millrace.cli.packaging.PackageCommands;
import io.millrace.cli.plugins.PluginsCommands;
import io.millrace.cli.queues.ConfigCommands;
import io.millrace.cli.queues.NodesCommands;
import io.millrace.cli.queues.QueuesCommands;
import io.millrace.cli.queues.RunnerCommand;
import io.millrace.cli.remote.WhyCommand;
import io.millrace.cli.schedules.SchedulesCommands;
import io.millrace.cli.serve.NodeCommand;
import io.millrace.cli.serve.UpCommand;
import io.millrace.cli.store.ShardsCommands;
import io.millrace.cli.store.StoreCommands;
import io.millrace.cli.tasks.TasksCommands;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.TerminalUser;
import io.millrace.cli.terminal.UsageException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

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
      "'millrace help COMMAND' explains a command."
    })
public final class Millrace implements Runnable {
  private static final int WIDTH = 100;
  private static final String HELP = "help";
  private static final Set<String> VERSION_WORDS = Set.of("version", "--version", "-V");
  private static final Set<String> HELP_WORDS = Set.of(HELP, "--help", "-h");

  @Spec private CommandSpec spec = CommandSpec.create();

  private Millrace() {}

  /** Runs one command and exits with its code. */
  public static void main(String[] args) {
    if (args.length == 1 && VERSION_WORDS.contains(args[0])) {
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
    List<String> words = new ArrayList<>(List.of(args));
    boolean help = !words.isEmpty() && words.getFirst().equals(HELP);
    if (help) {
      words.removeFirst();
    }
    CommandLine program = commandLine(terminal, help, words);
    if (words.size() > 1 && words.get(1).equals(HELP) && isGroup(program, words.getFirst())) {
      help = true;
      words.remove(1);
    }
    return help ? help(terminal, program, words) : program.execute(words.toArray(String[]::new));
  }

  /** Shows the help of the command that these words name. */
  private static int help(Terminal terminal, CommandLine program, List<String> words) {
    CommandLine command = program;
    for (String word : words) {
      CommandLine next = command.getSubcommands().get(word);
      if (next == null) {
        return new ErrorMessages(terminal.err())
            .handleParseException(
                new UnmatchedArgumentException(command, List.of(word)), new String[0]);
      }
      command = next;
    }
    List<String> asked = new ArrayList<>(words);
    asked.add("--help");
    return program.execute(asked.toArray(String[]::new));
  }

  private static boolean isGroup(CommandLine program, String word) {
    CommandLine command = program.getSubcommands().get(word);
    return command != null && !command.getSubcommands().isEmpty();
  }

  /** The program with all its commands. */
  static CommandLine program() {
    return commandLine(Terminal.system(), true, List.of());
  }

  /** All commands, in the order of the help. */
  private static SequencedMap<String, Supplier<CommandLine>> commands() {
    SequencedMap<String, Supplier<CommandLine>> commands = new LinkedHashMap<>();
    commands.put("up", () -> new CommandLine(new UpCommand()));
    commands.put("node", () -> new CommandLine(new NodeCommand()));
    commands.put("store", () -> new StoreCommands().group());
    commands.put("shards", () -> new ShardsCommands().group());
    commands.put("queues", () -> new QueuesCommands().group());
    commands.put("tasks", () -> new TasksCommands().group());
    commands.put("nodes", () -> new NodesCommands().group());
    commands.put("plugins", () -> new PluginsCommands().group());
    commands.put("config", () -> new ConfigCommands().group());
    commands.put("jobs", () -> new JobsCommands().group());
    commands.put("graph", () -> new GraphCommands().group());
    commands.put("schedules", () -> new SchedulesCommands().group());
    commands.put("limits", () -> new LimitsCommands().group());
    commands.put("why", () -> new CommandLine(new WhyCommand()));
    commands.put("bulk", () -> new BulkCommands().group());
    commands.put("archive", () -> new ArchiveCommands().group());
    commands.put("cluster", () -> new ClusterCommands().group());
    commands.put("member", () -> new CommandLine(new MemberCommand()));
    commands.put("workers", () -> new CommandLine(new WorkersCommand()));
    commands.put("worker", Millrace::worker);
    commands.put("access", () -> new AccessCommands().group());
    commands.put("audit", () -> new CommandLine(new AuditCommand()));
    commands.put("doctor", () -> new CommandLine(new DoctorCommand()));
    commands.put("completion", () -> new CommandLine(new CompletionCommand(Millrace::program)));
    commands.put("man", () -> new CommandLine(new ManualCommand(Millrace::program)));
    commands.put("version", () -> new CommandLine(new VersionCommand()));
    commands.put("package", () -> new PackageCommands(Millrace::program).group());
    commands.put("bench", () -> new CommandLine(new BenchCommand()));
    commands.put("demo", () -> new DemoCommands().group());
    commands.put("runner", () -> new CommandLine(new RunnerCommand()));
    commands.put(HELP, () -> new CommandLine(new CommandLine.HelpCommand()));
    return commands;
  }

  private static CommandLine worker() {
    CommandLine worker = new CommandLine(new WorkerCommand());
    // Options after the first word belong to the command that the worker runs.
    worker.setStopAtPositional(true);
    return worker;
  }

  /** The program with the command that these words name, or with all commands if they name none. */
  private static CommandLine commandLine(Terminal terminal, boolean help, List<String> words) {
    CommandLine top = new CommandLine(new Millrace());
    SequencedMap<String, Supplier<CommandLine>> commands = commands();
    Supplier<CommandLine> named = words.isEmpty() ? null : commands.get(words.getFirst());
    if (named == null) {
      commands.forEach((name, command) -> top.addSubcommand(name, command.get()));
    } else {
      // To make all of them takes longer than most commands run.
      top.addSubcommand(words.getFirst(), named.get());
    }
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
    if (help || words.stream().anyMatch(HELP_WORDS::contains)) {
      Examples.addTo(top);
    }
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

  /** Prints what {@code --version} prints. */
  @Command(name = "version", description = "Prints the version of Millrace.")
  static final class VersionCommand extends TerminalUser implements Callable<Integer> {
    @Override
    public Integer call() {
      out().println(Version.text());
      return CommandLine.ExitCode.OK;
    }
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
