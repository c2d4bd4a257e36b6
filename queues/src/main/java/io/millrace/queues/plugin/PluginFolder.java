package io.millrace.queues.plugin;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The plugins of a folder: executable files by their names, classes in jars and in folders directly
 * in it by their class names, optionally with {@code ::} for a dot, and classes of Perl by theirs.
 * Every answer is about the folder as it is now; except for {@link #perlProblem}, no code of a
 * plugin is run. Safe for use by any number of threads.
 *
 * @param path the folder, which need not exist; null for the built-in plugins alone
 * @param perl further folders with modules of Perl, which are searched after it
 */
public record PluginFolder(@Nullable Path path, List<Path> perl) {
  /** The name of the demo in the configuration of a Disbatch site. */
  static final String OLD_DEMO = "Disbatch::Plugin::Demo";

  /** The plugins that are built in. */
  public static final Set<String> BUILT_IN = Set.of("demo", OLD_DEMO, "exec", "shell");

  /** What follows the name of an executable in the name of the file with its declaration. */
  public static final String DECLARATION = ".params.json";

  private static final long MAX_DECLARATION_BYTES = 64 << 10;
  private static final Map<String, PluginDeclaration> OF_BUILT_IN =
      Map.of(
          "shell", ProgramForm.SHELL_PARAMS,
          "exec", ProgramForm.EXEC_PARAMS,
          "demo", PluginDeclaration.of(DemoPlugin.class).orElseThrow());

  private static final Logger LOG = LoggerFactory.getLogger(PluginFolder.class);
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_:.-]+");
  private static final Pattern CLASS_NAME =
      Pattern.compile("[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)*");
  private static final String LISTED = "META-INF/services/" + Plugin.class.getName();

  /** Makes the paths absolute. */
  public PluginFolder {
    path = path == null ? null : path.toAbsolutePath().normalize();
    perl = perl.stream().map(each -> each.toAbsolutePath().normalize()).toList();
  }

  /** The plugins of a folder, without further ones of Perl; null for the built-in ones alone. */
  public PluginFolder(@Nullable Path path) {
    this(path, List.of());
  }

  /** Whether this could be the name of a plugin: it never leads to another folder. */
  public static boolean isName(String name) {
    return NAME.matcher(name).matches() && !name.chars().allMatch(c -> c == '.');
  }

  /** Whether a plugin of this name can be run here. */
  public boolean has(String name) {
    return isName(name)
        && (isBuiltIn(name) || executable(name).isPresent() || hasClass(name) || isPerl(name));
  }

  /** Whether the plugin of this name is a class of Perl, and Perl is installed. */
  public boolean isPerl(String name) {
    return isName(name)
        && executable(name).isEmpty()
        && !hasClass(name)
        && modules().find(name).isPresent()
        && PerlModules.perl().isPresent();
  }

  /**
   * Loads a class of Perl in a process of its own, which runs the code of its modules.
   *
   * @param patience how long that may take
   * @return why it cannot be used; empty if it can
   */
  public Optional<String> perlProblem(String name, Duration patience) throws InterruptedException {
    return modules().problem(name, patience);
  }

  /**
   * The names that are found in it: built in, executable, public classes that implement {@link
   * Plugin} themselves, those that a jar or folder lists in {@code
   * META-INF/services/io.millrace.queues.plugin.Plugin}, and, if Perl is installed, classes of Perl
   * whose own source has {@code sub run}. Sorted. Reads every class file and module.
   */
  public Set<String> names() {
    Set<String> names = new TreeSet<>(BUILT_IN);
    for (Path entry : entries()) {
      String name = entry.getFileName().toString();
      if (isName(name) && executable(name).isPresent()) {
        names.add(name);
      }
    }
    List<URL> classPath = classPath();
    PluginClasses.in(classes()).stream()
        .filter(name -> hasClass(classPath, name))
        .forEach(names::add);
    names.addAll(listed());
    if (PerlModules.perl().isPresent()) {
      names.addAll(modules().names());
    }
    return Collections.unmodifiableSet(names);
  }

  /**
   * What a built-in plugin declares; empty for any other plugin, and for {@code
   * Disbatch::Plugin::Demo}, which a site may have replaced by its own.
   */
  public static Optional<PluginDeclaration> ofBuiltIn(String plugin) {
    return Optional.ofNullable(OF_BUILT_IN.get(plugin));
  }

  /**
   * What the plugins of the folder declare: classes with annotations, see {@link PluginParam}, and
   * executables with a file {@code NAME.params.json} beside them, which has the JSON of a {@link
   * PluginDeclaration}. Those without a valid declaration are left out, with a warning if it is not
   * valid. Reads every class file; runs no code.
   */
  public Map<String, PluginDeclaration> declarations() {
    Map<String, PluginDeclaration> declared = new TreeMap<>();
    PluginClasses.declarations(classes()).forEach(declared::put);
    for (Path entry : entries()) {
      String name = entry.getFileName().toString();
      if (isName(name) && executable(name).isPresent()) {
        Path file = entry.resolveSibling(name + DECLARATION);
        try {
          if (Files.isRegularFile(file)) {
            declared.put(name, readDeclaration(file));
          }
        } catch (IOException | IllegalArgumentException e) {
          LOG.warn("the declaration {} counts for nothing: {}", file, e.getMessage());
        }
      }
    }
    declared.keySet().removeIf(PluginFolder::isBuiltIn);
    return declared;
  }

  /**
   * Reads the declaration of an executable.
   *
   * @throws IllegalArgumentException saying what is wrong with it
   */
  public static PluginDeclaration readDeclaration(Path file) throws IOException {
    if (Files.size(file) > MAX_DECLARATION_BYTES) {
      throw new IllegalArgumentException("it has more than " + MAX_DECLARATION_BYTES + " bytes");
    }
    return PluginDeclaration.parse(Files.readAllBytes(file));
  }

  /**
   * A mark that changes with the folders: when a file in one or in a folder below it is added or
   * removed, or has another time or size. To compare, not to show. Looks at every file, which takes
   * noticeable time with tens of thousands.
   */
  public String mark() {
    List<Path> all = new ArrayList<>(entries());
    all.addAll(perl);
    return new ClassFiles(all).mark();
  }

  /** Whether there is a class of this name. */
  boolean hasClass(String name) {
    return hasClass(classPath(), name);
  }

  static boolean isBuiltIn(String name) {
    return BUILT_IN.contains(name);
  }

  static String className(String plugin) {
    return plugin.replace("::", ".");
  }

  /** The executable file of this name, directly in the folder. */
  Optional<Path> executable(String name) {
    return Optional.ofNullable(path)
        .filter(_ -> isName(name))
        .map(folder -> folder.resolve(name))
        .filter(file -> Files.isRegularFile(file) && Files.isExecutable(file));
  }

  /** The modules of Perl in the plugin folder and the further folders. */
  PerlModules modules() {
    List<Path> all = new ArrayList<>();
    if (path != null) {
      all.add(path);
    }
    all.addAll(perl);
    return new PerlModules(all);
  }

  /** The jars and folders with classes. */
  ClassFiles classes() {
    return new ClassFiles(
        entries().stream()
            .filter(entry -> entry.toString().endsWith(".jar") || Files.isDirectory(entry))
            .toList());
  }

  private List<URL> classPath() {
    return classes().urls();
  }

  private static boolean hasClass(List<URL> classPath, String name) {
    String type = className(name);
    if (classPath.isEmpty() || !CLASS_NAME.matcher(type).matches()) {
      return false;
    }
    try (URLClassLoader loader = new URLClassLoader(classPath.toArray(new URL[0]), null)) {
      return loader.findResource(type.replace('.', '/') + ".class") != null;
    } catch (IOException e) {
      LOG.debug("the class path of {} cannot be closed", name, e);
      return false;
    }
  }

  private Set<String> listed() {
    List<URL> classPath = classPath();
    Set<String> names = new TreeSet<>();
    try (URLClassLoader loader = new URLClassLoader(classPath.toArray(new URL[0]), null)) {
      for (URL list : Collections.list(loader.findResources(LISTED))) {
        lines(list)
            .map(line -> line.replaceFirst("#.*", "").strip())
            .filter(name -> isName(name) && hasClass(classPath, name))
            .forEach(names::add);
      }
    } catch (IOException e) {
      LOG.warn("the plugins listed in {} cannot be read: {}", path, e.toString());
    }
    return names;
  }

  private static Stream<String> lines(URL list) throws IOException {
    // A cached connection would keep a jar open that may be replaced.
    URLConnection connection = list.openConnection();
    connection.setUseCaches(false);
    try (BufferedReader reader =
        new BufferedReader(
            new InputStreamReader(connection.getInputStream(), StandardCharsets.UTF_8))) {
      return reader.readAllLines().stream();
    }
  }

  private List<Path> entries() {
    if (path == null || !Files.isDirectory(path)) {
      return List.of();
    }
    try (Stream<Path> entries = Files.list(path)) {
      return entries.sorted().toList();
    } catch (IOException | UncheckedIOException e) {
      LOG.warn("the plugin folder {} cannot be read: {}", path, e.toString());
      return List.of();
    }
  }
}
