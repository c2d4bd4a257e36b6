package io.millrace.cli.wordcount;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Starts further processes of this program, through the launcher where there is one. */
final class Program {
  private Program() {}

  /** Starts a command; its standard error goes to {@code log}. */
  static Process start(Path log, String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    String launcher = System.getProperty("millrace.launcher");
    if (launcher != null) {
      command.add(launcher);
    } else {
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.add("-XX:+UseSerialGC");
      command.add("-XX:TieredStopAtLevel=1");
      command.add("-cp");
      command.add(System.getProperty("java.class.path"));
      command.add("io.millrace.cli.Millrace");
    }
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
    builder.environment().put("MILLRACE_NO_BUILD", "1");
    Process process = builder.start();
    process.getOutputStream().close();
    return process;
  }
}
