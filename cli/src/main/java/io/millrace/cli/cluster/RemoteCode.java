package io.millrace.cli.cluster;

import io.millrace.cli.remote.Arguments;
import io.millrace.cli.terminal.UsageException;
import io.millrace.cluster.lambda.ClusterSecret;
import io.millrace.cluster.lambda.LambdaCodec;
import io.millrace.cluster.lambda.TrustedClasses;
import io.millrace.cluster.member.ClusterWork;
import io.millrace.cluster.remote.RemoteWork;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What a member needs to run code from another member: the secret and the user's classes. */
final class RemoteCode implements AutoCloseable {
  private static final String PLAN = "plan";
  private static final String EXAMPLES = "io.millrace.examples.cluster";

  private final @Nullable ClusterSecret secret;
  private final URLClassLoader classes;

  /**
   * The code of a cluster with this secret.
   *
   * @param secret null if this member runs no code that others send
   * @param classes loads the user's classes; closed by {@link #close}
   */
  RemoteCode(@Nullable ClusterSecret secret, URLClassLoader classes) {
    this.secret = secret;
    this.classes = classes;
  }

  /**
   * Signs a plan.
   *
   * @throws UsageException if there is no secret
   */
  String sign(String plan) {
    return secret().sign(PLAN, plan);
  }

  /**
   * Checks that a plan was signed with this secret.
   *
   * @throws UsageException if it was not, or there is no secret
   */
  void check(String plan, String signature) {
    if (!secret().isSigned(PLAN, plan, signature)) {
      throw new UsageException(
          "the plan of this cluster was not signed with the secret of --secret-file");
    }
  }

  /** Cluster work whose leader runs this program. */
  ClusterWork clusterWork(RemoteWork work) {
    return work.clusterWork(
        new LambdaCodec(secret(), new TrustedClasses(classes, Set.of(EXAMPLES))));
  }

  /**
   * Cluster work whose leader runs a user's program.
   *
   * @throws UsageException if there is no such class, or it cannot be instantiated
   */
  ClusterWork clusterWork(String program, Map<String, String> settings) {
    return clusterWork(UserProgram.make(program, settings, classes));
  }

  private ClusterSecret secret() {
    if (secret == null) {
      throw new UsageException(
          "members of this cluster run code that the leader sends: give the secret of the cluster"
              + " with --secret-file FILE");
    }
    return secret;
  }

  @Override
  public void close() {
    try {
      classes.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Options for the secret, the classes and the program of remote work. */
  static final class RemoteOptions {
    @Option(
        names = "--secret-file",
        paramLabel = "FILE",
        description =
            "A file with the secret of the cluster, 16 to 1024 bytes, not counting line breaks at"
                + " its end. Anyone who knows it can run code on every member. Default: this member"
                + " runs no code from others")
    private @Nullable Path secretFile;

    @Option(
        names = "--classpath",
        paramLabel = "PATH[:PATH…]",
        description =
            "Jars and folders with your own classes: the program and the classes that its lambdas"
                + " use.")
    private @Nullable String classpath;

    @Option(
        names = "--program",
        paramLabel = "CLASS",
        description =
            "A class on --classpath that implements io.millrace.cluster.remote.RemoteWork. The"
                + " leader runs it. Default: the program that the cluster is running")
    private @Nullable String program;

    @Option(
        names = "--set",
        paramLabel = "NAME=VALUE",
        description =
            "A setting for --program, passed in the map of its constructor; can be repeated.")
    private List<String> settings = List.of();

    /**
     * The options as the values of a plan; empty if no program is given.
     *
     * @throws UsageException if there are settings without a program, or a setting is given twice
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
        Map.Entry<String, String> pair = Arguments.pair("--set NAME=VALUE", setting);
        if (plan.put(Plan.SETTING + pair.getKey(), pair.getValue()) != null) {
          throw new UsageException("--set " + pair.getKey() + " is given twice");
        }
      }
      return plan;
    }

    /**
     * Reads the secret and finds the classes.
     *
     * @throws UsageException if the secret is invalid or cannot be read, or a path on the class
     *     path does not exist
     */
    RemoteCode open() {
      try {
        ClusterSecret secret = secretFile == null ? null : ClusterSecret.read(secretFile);
        return new RemoteCode(secret, ClassPath.open(paths()));
      } catch (IllegalArgumentException e) {
        throw new UsageException(String.valueOf(e.getMessage()), e);
      }
    }

    private List<String> paths() {
      return classpath == null ? List.of() : List.of(classpath.split(File.pathSeparator, -1));
    }
  }

  /** Loads the user's classes. */
  static final class ClassPath {
    private ClassPath() {}

    /**
     * A loader of the classes in these jars and folders; its parent loads the classes of Millrace.
     *
     * @throws UsageException if a path does not exist or cannot be read
     */
    static URLClassLoader open(List<String> paths) {
      return new URLClassLoader(
          "users",
          paths.stream().map(ClassPath::url).toArray(URL[]::new),
          ClassPath.class.getClassLoader());
    }

    private static URL url(String text) {
      try {
        Path path = Path.of(text);
        if (text.isEmpty() || !Files.isReadable(path)) {
          throw new UsageException("--classpath: '" + text + "' does not exist or cannot be read");
        }
        return path.toAbsolutePath().toUri().toURL();
      } catch (InvalidPathException | MalformedURLException e) {
        throw new UsageException("--classpath: '" + text + "' is not a path", e);
      }
    }
  }

  /** Creates the user's program. */
  private static final class UserProgram {
    private UserProgram() {}

    /**
     * Creates an instance, by the public constructor that takes a map of settings, or by the one
     * without parameters if there are no settings.
     *
     * @throws UsageException if that is not possible; the message contains the name of the class
     */
    static RemoteWork make(String name, Map<String, String> settings, ClassLoader classes) {
      try {
        Class<?> type = Class.forName(name, false, classes);
        if (!RemoteWork.class.isAssignableFrom(type)) {
          throw refused(name, "does not implement " + RemoteWork.class.getName());
        }
        return make(type.asSubclass(RemoteWork.class), settings);
      } catch (ClassNotFoundException e) {
        throw new UsageException("there is no class " + name + " on --classpath", e);
      } catch (InvocationTargetException e) {
        throw new UsageException("class " + name + " cannot be instantiated: " + e.getCause(), e);
      } catch (ReflectiveOperationException | LinkageError e) {
        throw new UsageException("class " + name + " cannot be instantiated: " + e, e);
      }
    }

    private static RemoteWork make(Class<? extends RemoteWork> type, Map<String, String> settings)
        throws ReflectiveOperationException {
      for (Constructor<?> constructor : type.getConstructors()) {
        if (constructor.getParameterCount() == 1
            && constructor.getParameterTypes()[0] == Map.class) {
          return type.getConstructor(Map.class).newInstance(settings);
        }
      }
      if (!settings.isEmpty()) {
        throw refused(type.getName(), "has no public constructor that takes a Map of --set");
      }
      try {
        return type.getConstructor().newInstance();
      } catch (NoSuchMethodException e) {
        throw refused(
            type.getName(),
            "has no public constructor without parameters, nor one that takes a Map");
      }
    }

    private static UsageException refused(String name, String why) {
      return new UsageException("class " + name + " " + why);
    }
  }
}
