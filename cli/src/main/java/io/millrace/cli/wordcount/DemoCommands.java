package io.millrace.cli.wordcount;

import io.millrace.cli.terminal.Terminal;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The demonstrations, under one name. */
@Command(name = "demo", description = "Shows on real work what Millrace survives.")
public final class DemoCommands implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  private DemoCommands() {}

  /** With all that belongs to it. */
  public static CommandLine on(Terminal terminal) {
    CommandLine demo = new CommandLine(new DemoCommands());
    demo.addSubcommand(new WordcountCommand(terminal));
    demo.addSubcommand(new WorkerCommand());
    return demo;
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "a demonstration is missing");
  }
}
