package io.millrace.cli.cluster;

import io.millrace.cli.terminal.UsageException;
import io.millrace.cluster.lambda.ClusterSecret;
import java.io.File;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * What a member needs to run code that another sends it, and which program sends it, as options.
 */
final class RemoteOptions {
  @Option(
      names = "--secret-file",
      paramLabel = "FILE",
      description =
          "A file with the secret of the cluster, 16 to 1024 bytes without the line ends after"
              + " them: who knows it can have every member run code. Default: members run none that"
              + " others send them")
  private @Nullable Path secretFile;

  @Option(
      names = "--classpath",
      paramLabel = "PATH[:PATH…]",
      description =
          "Jars and folders of classes of your own: the program and what its lambdas are made of.")
  private @Nullable String classpath;

  @Option(
      names = "--program",
      paramLabel = "CLASS",
      description =
          "A class of --classpath that implements io.millrace.cluster.remote.RemoteWork. Whichever"
              + " member leads runs it. Default: what the cluster's plan says")
  private @Nullable String program;

  @Option(
      names = "--set",
      paramLabel = "NAME=VALUE",
      description =
          "A setting of --program, in the map that its constructor takes; may come several times.")
  private List<String> settings = List.of();

  /**
   * What the options say, in the form of a plan; empty where they name no program.
   *
   * @throws UsageException where they do not go together
   */
  Map<String, String> plan() {
    if (program == null) {
      if (!settings.isEmpty()) {
        throw new UsageException("--set belongs to --program CLASS");
      }
      return Map.of();
    }
    Map<String, String> plan = new TreeMap<>(Map.of(Plan.PROGRAM, program));
    for (String setting : settings) {
      int equals = setting.indexOf('=');
      if (equals <= 0) {
        throw new UsageException("write --set NAME=VALUE, not '" + setting + "'");
      }
      String name = setting.substring(0, equals);
      if (plan.put(Plan.SETTING + name, setting.substring(equals + 1)) != null) {
        throw new UsageException("--set " + name + " is given twice");
      }
    }
    return plan;
  }

  /**
   * Reads the secret and finds the classes.
   *
   * @throws UsageException where the secret is none or cannot be read, or a path of classes is not
   *     there
   */
  Remote open() {
    try {
      ClusterSecret secret = secretFile == null ? null : ClusterSecret.read(secretFile);
      return new Remote(secret, ClassPath.open(paths()));
    } catch (IllegalArgumentException e) {
      throw new UsageException(String.valueOf(e.getMessage()), e);
    }
  }

  private List<String> paths() {
    return classpath == null ? List.of() : List.of(classpath.split(File.pathSeparator, -1));
  }
}
