package io.millrace.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.queues.Program;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/**
 * The commands of the documents do what they say, from the top of each page to its end: every block
 * marked {@code sh} is run, and what a block marked {@code text} shows below it is what it prints.
 * CONTRIBUTING.md has the rules.
 */
final class DocumentedCommandsTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Path RULES = ROOT.resolve("CONTRIBUTING.md");

  /** Pages run at the same time: each waits for others most of the time. */
  private static final int PAGES_AT_A_TIME = 4;

  private static final int MINUTES_FOR_A_PAGE = 8;

  private static final Pattern NOT_RUN = Pattern.compile("sh not run: (.+)");

  /** A block that is the content of a file. */
  private static final Pattern FILE = Pattern.compile("(?!sh )\\w+ (\\S+)");

  private static final Pattern ANOTHER_TEST = Pattern.compile("tested by (\\w+)");
  private static final Pattern COMMAND = Pattern.compile("\\s*(?:\\$ )?(?:\\./millrace|curl) .*");

  /** A command of ours, up to what ends it in a shell, in prose or in a table. */
  private static final Pattern MENTIONED = Pattern.compile("\\./millrace ([a-z][^`|&;)\"'#…\n]*)");

  /** The modules of the dashboard, which shows the command for each page. */
  private static final String DASHBOARD = "server/src/main/resources/io/millrace/server/dashboard";

  private static final Pattern OPTION = Pattern.compile("--(?:no-)?[a-z][a-z-]+");

  /** A command that goes on until its page ends. */
  private static final Pattern LASTING =
      Pattern.compile("(?m)^(.*?)\\s*(?:&|(?=# (?:in another terminal|until Ctrl-C)))\\s*(#.*)?$");

  private static final Pattern SERVER = Pattern.compile("(?m)^\\./millrace up\\b");

  @TempDir static Path folder = Path.of("");

  private static final SequencedMap<Path, Future<String>> FAILURES = new LinkedHashMap<>();
  private static final ExecutorService RUNNING = Executors.newFixedThreadPool(PAGES_AT_A_TIME);

  /**
   * A fenced or indented block of a page.
   *
   * @param line the number of its first line
   * @param mark what follows the fence; {@code indented} without one
   */
  private record Block(int line, String mark, String text) {
    static List<Block> of(Path page) throws IOException {
      List<Block> blocks = new ArrayList<>();
      List<String> lines = Files.readAllLines(page);
      for (int at = 0; at < lines.size(); at++) {
        String line = lines.get(at);
        int from = at + 1;
        if (line.strip().startsWith("```")) {
          int indent = line.indexOf('`');
          while (!lines.get(++at).strip().equals("```")) {}
          blocks.add(
              new Block(
                  from + 1,
                  line.strip().substring("```".length()),
                  lines.subList(from, at).stream()
                      .map(each -> each.isEmpty() ? each : each.substring(indent))
                      .collect(Collectors.joining("\n"))));
        } else if (line.startsWith("    ") && !line.isBlank()) {
          blocks.add(new Block(from, "indented", line));
        }
      }
      return blocks;
    }

    boolean isRun() {
      return mark.equals("sh");
    }
  }

  /** All pages for readers. */
  private static List<Path> pages() throws IOException {
    List<Path> pages = new ArrayList<>(List.of(ROOT.resolve("README.md"), RULES));
    try (Stream<Path> files = Files.list(ROOT.resolve("docs"))) {
      files.filter(file -> file.toString().endsWith(".md")).sorted().forEach(pages::add);
    }
    return pages;
  }

  /** Starts to run all pages. The examples of api.md are those of DocumentedExamplesTest. */
  @BeforeAll
  static void start() throws IOException {
    String only = System.getProperty("millrace.documents.page", "");
    for (Path page : pages()) {
      List<Block> blocks = Block.of(page);
      if (page.toString().contains(only)
          && !page.endsWith("api.md")
          && blocks.stream().anyMatch(Block::isRun)) {
        Callable<String> run = () -> run(page, blocks);
        FAILURES.put(page, RUNNING.submit(run));
      }
    }
  }

  @AfterAll
  static void end() throws IOException {
    RUNNING.shutdownNow();
    Program.killAll(folder);
  }

  @TestFactory
  Stream<DynamicTest> the_commands_of_a_page_do_what_it_says() {
    return FAILURES.entrySet().stream()
        .map(page ->
            DynamicTest.dynamicTest(
                ROOT.relativize(page.getKey()).toString(),
                () -> assertThat(page.getValue().get()).isEmpty()));
  }

  /** Runs a page, and returns what is wrong with it, or nothing. */
  private static String run(Path page, List<Block> blocks) throws Exception {
    Path work = folder.resolve(page.getFileName().toString().replace(".md", ""));
    Files.createDirectories(work);
    Files.copy(ROOT.resolve("README.md"), work.resolve("README.md"));
    Path program = work.resolve("millrace");
    Files.writeString(program, resource("millrace"));
    assertThat(program.toFile().setExecutable(true)).isTrue();
    StringBuilder script = new StringBuilder(resource("prelude.sh"));
    if (blocks.stream().filter(Block::isRun).findFirst().stream()
        .noneMatch(first -> SERVER.matcher(first.text()).find())) {
      script.append("./millrace up\n");
    }
    for (Block block : blocks) {
      if (block.isRun()) {
        script.append("echo ").append(block.line()).append(" > at\n{\n");
        script.append(background(block.text()));
        script.append("\n} > printed-").append(block.line()).append(" 2>&1\n");
      }
      Matcher file = FILE.matcher(block.mark());
      if (file.matches()) {
        Path content = Files.writeString(work.resolve("file-" + block.line()), block.text() + "\n");
        if (block.text().startsWith("#!")) {
          assertThat(content.toFile().setExecutable(true)).isTrue();
        }
        String to = "'" + file.group(1) + "'";
        script.append("mkdir -p \"$(dirname %s)\" && cp %s %s\n".formatted(to, content, to));
      }
    }
    Path output = work.resolve("script.log");
    Files.createFile(work.resolve("lasting.log"));
    ProcessBuilder builder =
        new ProcessBuilder("bash", "-c", script.toString())
            .directory(work.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    Map<String, String> environment = builder.environment();
    environment.keySet().removeIf(name -> name.startsWith("MILLRACE_"));
    environment.put("ROOT", ROOT.toString());
    environment.put("PAGE", work.toString());
    environment.put("HOME", work.toString());
    environment.put("JAVA_HOME", System.getProperty("java.home"));
    Process process = builder.start();
    process.getOutputStream().close();
    boolean ended = process.waitFor(MINUTES_FOR_A_PAGE, TimeUnit.MINUTES);
    if (!ended || process.exitValue() != 0) {
      process.destroyForcibly();
      Path at = work.resolve("at");
      String line = Files.exists(at) ? Files.readString(at).strip() : "";
      Path printed = work.resolve("printed-" + line);
      return "%s: the commands at line %s %s:%n%s%s"
          .formatted(
              page.getFileName(),
              line,
              ended ? "fail" : "do not end",
              Files.exists(printed) ? Files.readString(printed) : "",
              Files.readString(output) + Files.readString(work.resolve("lasting.log")));
    }
    return differences(page, blocks, work);
  }

  /** What blocks print otherwise than the page shows. */
  private static String differences(Path page, List<Block> blocks, Path work) throws IOException {
    StringBuilder differences = new StringBuilder();
    for (int i = 1; i < blocks.size(); i++) {
      Block block = blocks.get(i - 1);
      Block shown = blocks.get(i);
      int next = block.line() + (int) block.text().lines().count() + 1;
      if (block.isRun() && shown.mark().equals("text") && shown.line() <= next + 2) {
        String printed = Files.readString(work.resolve("printed-" + block.line())).strip();
        if (!matches(shown.text().strip(), printed)) {
          differences.append(
              "%s line %d shows%n%s%nand the commands print%n%s%n"
                  .formatted(page.getFileName(), shown.line(), shown.text(), printed));
        }
      }
    }
    return differences.toString();
  }

  /** Whether this was printed, with anything in place of each {@code …} that is shown. */
  private static boolean matches(String shown, String printed) {
    String pattern =
        Stream.of(shown.split("…", -1)).map(Pattern::quote).collect(Collectors.joining(".*"));
    return Pattern.compile(pattern, Pattern.DOTALL).matcher(printed).matches();
  }

  private static String background(String text) {
    StringBuilder lines = new StringBuilder();
    Matcher lasting = LASTING.matcher(text);
    while (lasting.find()) {
      // A server goes to the background by itself.
      boolean server = SERVER.matcher(lasting.group(1)).find();
      String line = lasting.group(1) + (server ? "" : " >> lasting.log 2>&1 & last");
      lasting.appendReplacement(lines, Matcher.quoteReplacement(line));
    }
    return lasting.appendTail(lines).toString();
  }

  private static String resource(String name) throws IOException {
    try (InputStream in =
        Objects.requireNonNull(
            DocumentedCommandsTest.class.getResourceAsStream("documents/" + name))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void every_block_with_commands_is_run_or_says_why_not() throws IOException {
    String rules = Files.readString(RULES);
    Set<String> tests = tests();
    List<String> wrong = new ArrayList<>();
    for (Path page : pages()) {
      for (Block block : Block.of(page)) {
        Matcher reason = NOT_RUN.matcher(block.mark());
        String place = page.getFileName() + " line " + block.line() + ": ";
        if (reason.matches()) {
          Matcher test = ANOTHER_TEST.matcher(reason.group(1));
          if (test.matches()
              ? !tests.contains(test.group(1))
              : !rules.contains("| `" + reason.group(1))) {
            wrong.add(place + "unknown reason " + reason.group(1));
          }
        } else if (!block.isRun() && block.text().lines().anyMatch(COMMAND.asMatchPredicate())) {
          wrong.add(place + "not marked as sh");
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  /** The names of the tests of all modules. */
  private static Set<String> tests() throws IOException {
    Set<String> names = new HashSet<>();
    try (Stream<Path> modules = Files.list(ROOT)) {
      for (Path sources : modules.map(module -> module.resolve("src/test/java")).toList()) {
        if (Files.isDirectory(sources)) {
          try (Stream<Path> files = Files.walk(sources)) {
            files
                .map(file -> file.getFileName().toString())
                .filter(name -> name.endsWith(".java"))
                .forEach(name -> names.add(name.substring(0, name.length() - ".java".length())));
          }
        }
      }
    }
    return names;
  }

  @Test
  void every_command_and_option_that_a_page_mentions_exists() throws IOException {
    CommandLine program = Millrace.program();
    List<String> wrong = new ArrayList<>();
    List<Path> pages = new ArrayList<>(pages());
    try (Stream<Path> dashboard = Files.list(ROOT.resolve(DASHBOARD))) {
      dashboard.filter(file -> file.toString().endsWith(".js")).forEach(pages::add);
    }
    for (Path page : pages) {
      Matcher mentioned = MENTIONED.matcher(Files.readString(page).replace("\\\n", " "));
      while (mentioned.find()) {
        String unknown = unknown(program, List.of(mentioned.group(1).strip().split("[\\s=]+")));
        if (!unknown.isEmpty()) {
          wrong.add(page.getFileName() + ": " + unknown + " in " + mentioned.group());
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  /** The first of these words that is neither a command nor an option of it, or nothing. */
  private static String unknown(CommandLine program, List<String> words) {
    CommandLine command = program;
    boolean named = false;
    for (String word : words) {
      CommandLine next = command.getSubcommands().get(word);
      if (next != null) {
        command = next;
        named = true;
      } else if (!named) {
        return word;
      } else if (word.equals("--")) {
        return "";
      } else if (OPTION.matcher(word).matches()
          && command.getCommandSpec().findOption(word) == null) {
        return word;
      }
    }
    return "";
  }
}
