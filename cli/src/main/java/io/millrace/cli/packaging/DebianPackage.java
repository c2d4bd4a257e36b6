package io.millrace.cli.packaging;

import io.millrace.cli.manual.CompletionCommand;
import io.millrace.cli.manual.ManualCommand;
import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/**
 * A Debian package of the distribution in a checkout, for the architecture of this machine.
 *
 * <p>The files that are written by hand, such as units and maintainer scripts, are those of {@code
 * build/debian}. The rest is made here: the runtime by jlink, manual pages and completion from the
 * commands. The same build gives the same package again, except for the class caches.
 */
final class DebianPackage {
  /** Everything that the program, its diagnosis and usual plugins need of a JDK. */
  private static final String MODULES =
      "java.se,jdk.attach,jdk.charsets,jdk.crypto.cryptoki,jdk.crypto.ec,jdk.httpserver,jdk.jcmd,"
          + "jdk.jdwp.agent,jdk.jfr,jdk.localedata,jdk.management,jdk.management.agent,"
          + "jdk.management.jfr,jdk.naming.dns,jdk.net,jdk.nio.mapmode,jdk.security.auth,"
          + "jdk.security.jgss,jdk.unsupported,jdk.xml.dom,jdk.zipfs";

  private static final String MAIN_JAR = "millrace-cli.jar";
  private static final String PROGRAM_FILES = "usr/lib/millrace";
  private static final DateTimeFormatter STAMP =
      DateTimeFormatter.ofPattern("uuuuMMddHHmmss", Locale.ROOT).withZone(ZoneOffset.UTC);

  /** The newest symbol version of the C library that a JDK 25 for Linux uses is 2.17. */
  private static final String DEPENDS = "adduser, libc6 (>= 2.17)";

  private final Path checkout;
  private final Supplier<CommandLine> program;
  private final boolean fast;

  /**
   * A package to write.
   *
   * @param checkout the root of a checkout with a built distribution
   * @param program makes the program with all its commands
   * @param fast whether to leave out compression and class caches
   */
  DebianPackage(Path checkout, Supplier<CommandLine> program, boolean fast) {
    this.checkout = checkout;
    this.program = program;
    this.fast = fast;
  }

  /** Whether this folder is a checkout with a built distribution. */
  static boolean canBeMadeOf(Path checkout) {
    return Files.isDirectory(checkout.resolve("build/debian"))
        && Files.isRegularFile(distribution(checkout).resolve(MAIN_JAR));
  }

  private static Path distribution(Path checkout) {
    return checkout.resolve("cli/target/millrace/lib");
  }

  /**
   * Writes the package and returns its file, which appears only when it is complete.
   *
   * @throws CommandException if a tool is missing or fails, or the folder cannot be written
   */
  Path write(Path folder) {
    Path jlink = Path.of(System.getProperty("java.home"), "bin", "jlink");
    if (!Files.isExecutable(jlink)) {
      throw failed("jlink is missing: " + jlink + " (Millrace must be started by a JDK)", null);
    }
    try {
      Path mainJar = distribution(checkout).resolve(MAIN_JAR);
      Instant time = Files.getLastModifiedTime(mainJar).toInstant().truncatedTo(ChronoUnit.SECONDS);
      String architecture = run(List.of("dpkg", "--print-architecture"), null);
      Files.createDirectories(folder);
      Path stage = Files.createTempDirectory(folder, ".deb");
      try {
        String version = version(mainJar, time);
        Path root = stage.resolve("root");
        fill(root, jlink, time);
        control(root, version, architecture);
        settle(root, time);
        Path made = stage.resolve("made.deb");
        List<String> build = new ArrayList<>(List.of("dpkg-deb", "--root-owner-group"));
        build.addAll(fast ? List.of("-Znone") : List.of("-Zxz", "-z2"));
        build.addAll(List.of("--build", root.toString(), made.toString()));
        run(build, time);
        Path target =
            folder.resolve("millrace_%s_%s.deb".formatted(version, architecture)).normalize();
        return Files.move(made, target, StandardCopyOption.REPLACE_EXISTING);
      } finally {
        delete(stage);
      }
    } catch (IOException e) {
      throw failed("the package cannot be written to " + folder + ": " + e.getMessage(), e);
    }
  }

  /** The version for Debian. A snapshot is older than its release, and newer than the last one. */
  private static String version(Path mainJar, Instant time) throws IOException {
    try (JarFile jar = new JarFile(mainJar.toFile())) {
      String version =
          jar.getManifest().getMainAttributes().getValue(Attributes.Name.IMPLEMENTATION_VERSION);
      return version.replace("-SNAPSHOT", "~snapshot" + STAMP.format(time)).replace('-', '~');
    }
  }

  /** Lays out the files of the package. */
  private void fill(Path root, Path jlink, Instant time) throws IOException {
    Path home = root.resolve(PROGRAM_FILES);
    copyJars(home.resolve("lib"));
    for (String file : List.of("java-options", "start")) {
      copy("build/" + file, home.resolve(file));
    }
    // With names and lines in stack traces, but without headers to compile native code against.
    run(
        List.of(
            jlink.toString(),
            "--add-modules",
            MODULES,
            "--no-header-files",
            "--no-man-pages",
            "--output",
            home.resolve("runtime").toString()),
        null);
    Path documents = root.resolve("usr/share/doc/millrace");
    copy("build/debian/launcher", root.resolve("usr/bin/millrace"));
    copy("build/debian/millrace.conf", root.resolve("etc/millrace/millrace.conf"));
    for (String each : List.of("millrace", "millrace-node")) {
      copy("build/debian/" + each + ".default", root.resolve("etc/default").resolve(each));
      String unit = each + ".service";
      copy("build/debian/" + unit, root.resolve("usr/lib/systemd/system").resolve(unit));
    }
    for (String each : List.of("README.Debian", "copyright")) {
      copy("build/debian/" + each, documents.resolve(each));
    }
    copy("CHANGELOG.md", documents.resolve("changelog"));
    compress(List.of(documents.resolve("changelog")));
    copyFiles("docs", documents);
    copyFiles("docs/operations", documents.resolve("operations"));
    manual(root.resolve("usr/share/man/man1"));
    Path completion = root.resolve("usr/share/bash-completion/completions/millrace");
    Files.createDirectories(completion.getParent());
    Files.writeString(completion, CompletionCommand.script(program.get()));
    if (!fast) {
      // A cache is only used if the jars have the time that they had when it was recorded.
      settle(home, time);
      run(
          List.of(
              checkout.resolve("build/record-caches").toString(),
              home.toString(),
              home.resolve("runtime").toString()),
          null);
      for (String mark : List.of("built", "recorded", "recording")) {
        Files.deleteIfExists(home.resolve(mark));
      }
    }
  }

  /** The jars that the manifest names: there may be older ones beside them. */
  private void copyJars(Path target) throws IOException {
    Path source = distribution(checkout);
    try (JarFile jar = new JarFile(source.resolve(MAIN_JAR).toFile())) {
      String path = jar.getManifest().getMainAttributes().getValue(Attributes.Name.CLASS_PATH);
      Files.createDirectories(target);
      Files.copy(source.resolve(MAIN_JAR), target.resolve(MAIN_JAR));
      for (String each : path.split(" ", -1)) {
        Files.copy(source.resolve(each), target.resolve(each));
      }
    }
  }

  private void manual(Path folder) throws IOException {
    ManualCommand.writeAll(program.get(), folder);
    try (Stream<Path> pages = Files.list(folder)) {
      compress(pages.toList());
    }
  }

  private static void compress(List<Path> files) throws IOException {
    List<String> gzip = new ArrayList<>(List.of("gzip", "-9n"));
    files.forEach(file -> gzip.add(file.toString()));
    run(gzip, null);
  }

  private void control(Path root, String version, String architecture) throws IOException {
    long bytes = 0;
    StringBuilder sums = new StringBuilder();
    for (Path file : files(root)) {
      bytes += Files.size(file);
      if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
        sums.append(md5(file)).append("  ").append(root.relativize(file)).append('\n');
      }
    }
    Path control = root.resolve("DEBIAN");
    for (String script : List.of("postinst", "prerm", "postrm")) {
      copy("build/debian/" + script, control.resolve(script));
    }
    Files.writeString(control.resolve("md5sums"), sums);
    Files.writeString(
        control.resolve("conffiles"),
        "/etc/default/millrace\n/etc/default/millrace-node\n/etc/millrace/millrace.conf\n");
    Files.writeString(
        control.resolve("control"),
        """
        Package: millrace
        Version: %s
        Architecture: %s
        Maintainer: %s <%s>
        Section: net
        Priority: optional
        Depends: %s
        Recommends: perl
        Suggests: nginx | caddy, prometheus
        Installed-Size: %d
        Description: runs work on many machines and survives crashes
         Millrace is a server for queues of commands, jobs for workers, graphs of steps
         and clusters of processes, on a transactional store of its own. Every answer
         is on disk before it is given.
         .
         This package has the server, the execution node and all commands, with the
         Java runtime that they need.
        """
            .formatted(
                version,
                architecture,
                environment("DEBFULLNAME", "The authors of Millrace"),
                environment("DEBEMAIL", "millrace@localhost"),
                DEPENDS,
                (bytes + 1023) / 1024));
  }

  private static String environment(String name, String otherwise) {
    String value = System.getenv(name);
    return value == null || value.isBlank() ? otherwise : value;
  }

  private static String md5(Path file) throws IOException {
    try {
      // What dpkg --verify compares; not meant to protect from anybody.
      return HexFormat.of()
          .formatHex(MessageDigest.getInstance("MD5").digest(Files.readAllBytes(file)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Gives all files the time of the build, and the permissions that they have in a package. */
  private static void settle(Path root, Instant time) throws IOException {
    try (Stream<Path> all = Files.walk(root)) {
      for (Path each : all.filter(path -> !Files.isSymbolicLink(path)).toList()) {
        boolean open = Files.isDirectory(each) || Files.isExecutable(each);
        Files.setPosixFilePermissions(
            each, PosixFilePermissions.fromString(open ? "rwxr-xr-x" : "rw-r--r--"));
        Files.setLastModifiedTime(each, FileTime.from(time));
      }
    }
  }

  private static List<Path> files(Path root) throws IOException {
    try (Stream<Path> all = Files.walk(root)) {
      return all.filter(each -> !Files.isDirectory(each)).sorted().toList();
    }
  }

  private void copy(String source, Path target) throws IOException {
    Files.createDirectories(target.getParent());
    Files.copy(checkout.resolve(source), target, StandardCopyOption.COPY_ATTRIBUTES);
  }

  /** Copies the files of a folder, but no pictures and nothing below it. */
  private void copyFiles(String source, Path target) throws IOException {
    try (Stream<Path> files = Files.list(checkout.resolve(source))) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        copy(source + "/" + file.getFileName(), target.resolve(file.getFileName().toString()));
      }
    }
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    }
  }

  /** Runs a tool and returns what it printed. */
  private static String run(List<String> command, @Nullable Instant time) throws IOException {
    String tool = command.getFirst();
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    if (time != null) {
      builder.environment().put("SOURCE_DATE_EPOCH", Long.toString(time.getEpochSecond()));
    }
    Process process;
    try {
      process = builder.start();
    } catch (IOException e) {
      String hint = tool.startsWith("dpkg") ? "; it comes with the Debian package dpkg" : "";
      throw failed(tool + " is missing or cannot be started" + hint, e);
    }
    try {
      process.getOutputStream().close();
      String output =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      int code = process.waitFor();
      if (code != 0) {
        throw failed("%s failed with exit code %d: %s".formatted(tool, code, output), null);
      }
      return output;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      process.destroy();
      throw failed("interrupted", e);
    }
  }

  private static CommandException failed(String message, @Nullable Throwable cause) {
    return cause == null
        ? new CommandException(ExitCode.FAILURE, message)
        : new CommandException(ExitCode.FAILURE, message, cause);
  }
}
