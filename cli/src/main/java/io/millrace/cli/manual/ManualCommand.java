package io.millrace.cli.manual;

import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.TerminalUser;
import io.millrace.cli.terminal.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Prints manual pages, made of the same descriptions as the help. */
@Command(
    name = "man",
    description =
        "Prints the manual page of a command, or writes those of all commands into a folder, in"
            + " the form that the program man reads.")
public final class ManualCommand extends TerminalUser implements Callable<Integer> {
  private final Supplier<CommandLine> program;

  @Parameters(
      paramLabel = "COMMAND",
      arity = "0..*",
      description = "The words of the command, for example 'queues create'. Default: millrace")
  private List<String> words = new ArrayList<>();

  @Option(
      names = {"-o", "--output"},
      paramLabel = "DIR",
      description =
          "Writes the pages of all commands into this folder, which is created if it is absent:"
              + " millrace.1, millrace-queues-create.1 and so on.")
  private @Nullable Path folder;

  /**
   * A command that prints the pages of this program.
   *
   * @param program makes the program with all its commands
   */
  public ManualCommand(Supplier<CommandLine> program) {
    this.program = program;
  }

  @Override
  public Integer call() {
    CommandLine top = program.get();
    Path target = folder;
    if (target == null) {
      out().print(Page.of(named(top)));
      out().flush();
      return ExitCode.OK;
    }
    if (!words.isEmpty()) {
      throw new UsageException("--output writes the pages of all commands: name none");
    }
    try {
      out().println("wrote %d pages into %s".formatted(writeAll(top, target), target));
    } catch (IOException e) {
      throw new CommandException(
          ExitCode.FAILURE,
          "the manual pages cannot be written into --output: " + e.getMessage(),
          e);
    }
    return ExitCode.OK;
  }

  private CommandLine named(CommandLine top) {
    CommandLine command = top;
    for (String word : words) {
      CommandLine next = command.getSubcommands().get(word);
      if (next == null) {
        throw new UsageException(
            "there is no command '%s' in '%s'"
                .formatted(word, command.getCommandSpec().qualifiedName()));
      }
      command = next;
    }
    return command;
  }

  /**
   * Writes the pages of a command and of all below it into a folder, which is created if it is
   * absent; returns their number.
   *
   * @throws IOException if a page cannot be written
   */
  public static int writeAll(CommandLine command, Path folder) throws IOException {
    Files.createDirectories(folder);
    return write(command, folder);
  }

  private static int write(CommandLine command, Path folder) throws IOException {
    Files.writeString(folder.resolve(pageName(command) + ".1"), Page.of(command));
    int count = 1;
    for (CommandLine each : visible(command)) {
      count += write(each, folder);
    }
    return count;
  }

  private static Collection<CommandLine> visible(CommandLine command) {
    return new LinkedHashSet<>(command.getSubcommands().values())
        .stream().filter(each -> !each.getCommandSpec().usageMessage().hidden()).toList();
  }

  private static String pageName(CommandLine command) {
    return command.getCommandSpec().qualifiedName("-");
  }

  /** One page, in the macros of man(7). */
  private static final class Page {
    private final StringBuilder text = new StringBuilder();
    private final CommandLine command;
    private final CommandSpec spec;

    private Page(CommandLine command) {
      this.command = command;
      this.spec = command.getCommandSpec();
    }

    static String of(CommandLine command) {
      Page page = new Page(command);
      page.write();
      return page.text.toString();
    }

    private void write() {
      UsageMessageSpec usage = spec.usageMessage();
      String description = plain(usage.description());
      line(
          ".TH \"%s\" 1 \"\" \"%s\" \"Millrace\""
              .formatted(escaped(pageName(command)), escaped(version())));
      section("NAME");
      line(escaped(pageName(command)) + " \\- " + escaped(firstSentence(description)));
      section("SYNOPSIS");
      Help help = new Help(spec, Help.defaultColorScheme(Ansi.OFF));
      text(help.abbreviatedSynopsis().strip());
      section("DESCRIPTION");
      text(description);
      List<PositionalParamSpec> parameters = spec.positionalParameters();
      if (!parameters.isEmpty()) {
        section("ARGUMENTS");
        parameters.forEach(each -> item(italic(each.paramLabel()), plain(each.description())));
      }
      section("OPTIONS");
      spec.options().stream()
          .filter(each -> !each.hidden())
          .forEach(each -> item(names(each), plain(each.description())));
      commands();
      Map<String, String> codes = usage.exitCodeList();
      if (!codes.isEmpty()) {
        section("EXIT STATUS");
        codes.forEach((code, meaning) -> item(bold(code.strip()), plain(meaning)));
      }
      if (usage.footer().length > 0) {
        section(command.getSubcommands().isEmpty() ? "EXAMPLES" : "NOTES");
        line(".nf");
        Arrays.stream(usage.footer())
            .map(Page::plain)
            .forEach(each -> text.append(guarded(escaped(each.strip()))).append('\n'));
        line(".fi");
      }
      seeAlso();
    }

    private void commands() {
      if (visible(command).isEmpty()) {
        return;
      }
      section("COMMANDS");
      for (CommandLine each : visible(command)) {
        item(
            bold(pageName(each)) + "(1)",
            firstSentence(plain(each.getCommandSpec().usageMessage().description())));
      }
    }

    private void seeAlso() {
      CommandLine above = command.getParent();
      if (above == null) {
        return;
      }
      section("SEE ALSO");
      line(bold(pageName(above)) + "(1)");
    }

    private String version() {
      return String.join(" ", spec.root().version());
    }

    private static String names(OptionSpec option) {
      String label = option.arity().max() == 0 ? "" : "=" + italic(option.paramLabel());
      return Arrays.stream(option.names())
          .map(Page::bold)
          .collect(Collectors.joining(", ", "", label));
    }

    private void section(String name) {
      line(".SH " + name);
    }

    private void item(String term, String description) {
      line(".TP");
      line(term);
      text(description);
    }

    private void text(String paragraph) {
      for (String each : paragraph.split("\n", -1)) {
        text.append(guarded(escaped(each))).append('\n');
      }
    }

    private void line(String words) {
      text.append(words).append('\n');
    }

    private static String bold(String words) {
      return "\\fB" + escaped(words) + "\\fR";
    }

    private static String italic(String words) {
      return "\\fI" + escaped(words) + "\\fR";
    }

    /** A description as it is shown, with its lines. */
    private static String plain(String... description) {
      return Arrays.stream(description)
          .map(each -> Ansi.OFF.string(String.format(each)))
          .collect(Collectors.joining("\n"));
    }

    private static String firstSentence(String description) {
      int end = description.indexOf(". ");
      String first = (end < 0 ? description : description.substring(0, end)).replace('\n', ' ');
      return first.endsWith(".") ? first.substring(0, first.length() - 1) : first;
    }

    private static String escaped(String words) {
      return words.replace("\\", "\\e").replace("-", "\\-");
    }

    /** No line of text is taken for a macro. */
    private static String guarded(String line) {
      return line.startsWith(".") || line.startsWith("'") ? "\\&" + line : line;
    }
  }
}
