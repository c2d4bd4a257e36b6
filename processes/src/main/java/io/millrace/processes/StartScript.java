package io.millrace.processes;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What to run, as a shell reads it. */
final class StartScript {
  /** How the system takes texts, as in arguments of programs. */
  static final Charset CHARSET = Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));

  /** Variables that mean something to a shell while it runs, or that it lets nobody change. */
  private static final Set<String> OF_THE_SHELL =
      Set.of(
          "BASHOPTS",
          "BASH_ENV",
          "BASH_VERSINFO",
          "DIRSTACK",
          "ENV",
          "EUID",
          "FUNCNAME",
          "GROUPS",
          "IFS",
          "LINENO",
          "OLDPWD",
          "OPTIND",
          "PPID",
          "PWD",
          "SHELLOPTS",
          "UID",
          "_");

  private StartScript() {}

  /** Whether a shell can be told to run this. */
  static boolean fits(ProcessSpec spec) {
    String folder = spec.folder().toString();
    return folder.strip().equals(folder)
        && folder.chars().noneMatch(Character::isISOControl)
        && spec.environment().keySet().stream()
            .noneMatch(name -> OF_THE_SHELL.contains(name) || name.startsWith("millrace_"));
  }

  /**
   * Writes it, for nobody else to read since it may hold secrets.
   *
   * @param key of the one request that may run it
   */
  static void write(ProcessSpec spec, String key, Path file) throws IOException {
    byte[] text = text(spec, key).getBytes(CHARSET);
    Files.createFile(
        file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    try (OutputStream out = Files.newOutputStream(file, StandardOpenOption.WRITE)) {
      out.write(text);
    }
  }

  /** A script that goes to the directory and adds the command to the arguments. */
  static String text(ProcessSpec spec, String key) {
    StringBuilder text = new StringBuilder(200);
    text.append("[ \"$millrace_key\" = ").append(key).append(" ] || exit 125\n");
    for (Map.Entry<String, String> variable : spec.environment().entrySet()) {
      text.append("export ").append(variable.getKey()).append('=');
      quote(text, variable.getValue());
      text.append('\n');
    }
    text.append("cd ");
    quote(text, spec.directory().toString());
    text.append(" || exit 125\nunset OLDPWD\nset -- \"$@\"");
    List<String> command = spec.command();
    for (String word : command) {
      text.append(' ');
      quote(text, word);
    }
    return text.append('\n').toString();
  }

  private static void quote(StringBuilder text, String word) {
    text.append('\'').append(word.replace("'", "'\\''")).append('\'');
  }
}
