package io.millrace.cli.packaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.cli.Shell;
import io.millrace.server.MillraceServer;
import io.millrace.server.ServerSettings;
import io.millrace.server.config.Configuration;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DebianPackageTest {
  private static final Path CHECKOUT = Path.of("..");

  @TempDir private static Path folder;

  private static Path file;
  private static Path tree;

  @BeforeAll
  static void build() throws IOException, InterruptedException {
    assumeTrue(isInstalled("dpkg-deb"), "dpkg-deb is not installed (Debian: dpkg)");
    Ended made =
        run(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Dmillrace.launcher=" + CHECKOUT.resolve("millrace").toRealPath(),
            "-cp",
            Path.of("target", "millrace", "lib", "millrace-cli.jar").toString(),
            "io.millrace.cli.Millrace",
            "package",
            "deb",
            "--fast",
            "--out",
            folder.resolve("out").toString());
    assertThat(made.code()).as(made.output()).isZero();
    file = Path.of(made.output().strip());
    tree = folder.resolve("tree");
    run("dpkg-deb", "--raw-extract", file.toString(), tree.toString());
  }

  private static boolean isInstalled(String program) {
    return Arrays.stream(System.getenv("PATH").split(":", -1))
        .anyMatch(each -> Files.isExecutable(Path.of(each, program)));
  }

  private record Ended(int code, String output) {}

  private static Ended run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Ended(process.waitFor(), output);
  }

  private static String read(String path) throws IOException {
    return Files.readString(tree.resolve(path));
  }

  @Test
  void nothing_but_the_package_is_left_in_the_folder() throws IOException {
    try (var entries = Files.list(folder.resolve("out"))) {
      assertThat(entries).containsExactly(file);
    }
    assertThat(file.getFileName().toString())
        .matches("millrace_[0-9.]+(~snapshot[0-9]{14})?_[a-z0-9]+\\.deb");
  }

  @Test
  void its_control_fields_name_what_it_is_and_needs() throws IOException, InterruptedException {
    String fields = run("dpkg-deb", "--field", file.toString()).output();
    assertThat(fields)
        .contains("Package: millrace\n", "Section: net", "Depends: adduser, libc6")
        .contains("Description: runs work on many machines");
    Matcher size = Pattern.compile("Installed-Size: (\\d+)").matcher(fields);
    assertThat(size.find()).isTrue();
    assertThat(Long.parseLong(size.group(1))).isBetween(50_000L, 500_000L);
  }

  @Test
  void its_files_are_where_debian_expects_them() throws IOException, InterruptedException {
    for (String path :
        List.of(
            "usr/bin/millrace",
            "usr/lib/millrace/lib/millrace-cli.jar",
            "usr/lib/millrace/runtime/bin/java",
            "usr/lib/systemd/system/millrace.service",
            "usr/lib/systemd/system/millrace-node.service",
            "usr/share/man/man1/millrace.1.gz",
            "usr/share/man/man1/millrace-queues-create.1.gz",
            "usr/share/doc/millrace/copyright",
            "usr/share/doc/millrace/changelog.gz",
            "usr/share/doc/millrace/configuration.md",
            "usr/share/doc/millrace/operations/nginx.conf",
            "usr/share/bash-completion/completions/millrace")) {
      assertThat(tree.resolve(path)).isRegularFile();
    }
    // The licences of the runtime's modules are links to each other.
    assertThat(run("dpkg-deb", "--contents", file.toString()).output().lines())
        .allMatch(line ->
            line.matches(
                "[d-]rwxr-xr-x root/root .*|-rw-r--r-- root/root .*"
                    + "|lrwxrwxrwx root/root .*/runtime/legal/.*"));
    // Every configuration file is one that an upgrade must not overwrite.
    try (var entries = Files.walk(tree.resolve("etc"))) {
      assertThat(entries.filter(Files::isRegularFile).map(each -> "/" + tree.relativize(each)))
          .containsExactlyInAnyOrderElementsOf(read("DEBIAN/conffiles").lines().toList());
    }
  }

  @Test
  void its_scripts_are_valid() throws IOException, InterruptedException {
    for (String script : List.of("postinst", "prerm", "postrm")) {
      Path path = tree.resolve("DEBIAN").resolve(script);
      assertThat(path).isExecutable();
      assertThat(run("sh", "-n", path.toString()).code()).isZero();
    }
    assertThat(run("bash", "-n", tree.resolve("usr/bin/millrace").toString()).code()).isZero();
  }

  @Test
  void its_units_are_hardened_and_name_files_that_are_there() throws IOException {
    for (String name : List.of("millrace", "millrace-node")) {
      String unit = read("usr/lib/systemd/system/" + name + ".service");
      assertThat(unit)
          .contains("User=" + name + "\n", "StateDirectory=" + name + "\n")
          .contains("ProtectSystem=strict", "NoNewPrivileges=yes", "CapabilityBoundingSet=\n")
          .contains("KillMode=process", "EnvironmentFile=-/etc/default/" + name + "\n")
          .contains("ExecStart=/usr/bin/millrace ");
      assertThat(tree.resolve("etc/default").resolve(name)).exists();
    }
    assertThat(read("usr/lib/systemd/system/millrace.service"))
        .contains("up --config /etc/millrace/millrace.conf");
  }

  @Test
  void systemd_accepts_its_units_and_rates_what_they_leave_open() throws Exception {
    assumeTrue(
        isInstalled("systemd-analyze"), "systemd-analyze is not installed (Debian: systemd)");
    Path root = folder.resolve("units");
    Path units = Files.createDirectories(root.resolve("usr/lib/systemd/system"));
    Path program = Files.createDirectories(root.resolve("usr/bin")).resolve("millrace");
    Files.copy(tree.resolve("usr/bin/millrace"), program, StandardCopyOption.COPY_ATTRIBUTES);
    // What every unit needs of systemd itself.
    for (String target : List.of("sysinit", "basic", "shutdown", "network-online", "multi-user")) {
      Files.writeString(units.resolve(target + ".target"), "[Unit]\nDescription=" + target + "\n");
    }
    for (var limit : Map.of("millrace", 2.0, "millrace-node", 5.0).entrySet()) {
      String unit = limit.getKey() + ".service";
      Files.copy(tree.resolve("usr/lib/systemd/system").resolve(unit), units.resolve(unit));
      Ended verified = run("systemd-analyze", "verify", "--man=no", "--root=" + root, unit);
      // Keys that systemd does not know are warnings.
      assertThat(verified.output()).isEmpty();
      assertThat(verified.code()).isZero();
      String rated =
          run("systemd-analyze", "security", "--no-pager", "--offline=yes", "--root=" + root, unit)
              .output();
      Matcher level = Pattern.compile("exposure level for \\S+: ([0-9.]+)").matcher(rated);
      assertThat(level.find()).as(rated).isTrue();
      assertThat(Double.parseDouble(level.group(1))).as(unit).isLessThanOrEqualTo(limit.getValue());
    }
  }

  @Test
  void the_server_in_it_starts_with_its_configuration_and_its_own_runtime() throws Exception {
    Path root = folder.resolve("state");
    Path token = Files.writeString(Files.createDirectories(root).resolve("token"), "secret");
    Path configuration =
        Files.writeString(
            root.resolve("millrace.conf"),
            read("etc/millrace/millrace.conf")
                .replace("/etc/millrace/token", token.toString())
                .replace("/var/lib/millrace", root.resolve("data").toString()));
    String unit = read("usr/lib/systemd/system/millrace.service");
    Matcher start = Pattern.compile("ExecStart=/usr/bin/(.*)").matcher(unit);
    assertThat(start.find()).isTrue();
    ProcessBuilder builder =
        new ProcessBuilder(
            "bash",
            "-c",
            "exec "
                + tree.resolve("usr/bin")
                + "/"
                + start.group(1).replace("/etc/millrace/millrace.conf", configuration.toString())
                + " --port 0");
    builder.environment().put("MILLRACE_JAVA_OPTS", "-Xmx256m");
    builder.environment().remove("JAVA_HOME");
    Process server = builder.redirectError(root.resolve("log").toFile()).start();
    try (BufferedReader output = server.inputReader();
        HttpClient client = HttpClient.newHttpClient()) {
      String ready = output.readLine();
      assertThat(ready).as(Files.readString(root.resolve("log"))).startsWith("Millrace is ready");
      assertThat(server.info().command().orElseThrow())
          .isEqualTo(tree.resolve("usr/lib/millrace/runtime/bin/java").toRealPath().toString());
      URI url = URI.create(ready.split(" ", -1)[4]);
      HttpRequest.Builder queues = HttpRequest.newBuilder(url.resolve("/dci/queues"));
      assertThat(client.send(queues.build(), BodyHandlers.ofString()).statusCode()).isEqualTo(401);
      queues.header("Authorization", "Bearer secret");
      assertThat(client.send(queues.build(), BodyHandlers.ofString()).statusCode()).isEqualTo(200);
      Path health = CHECKOUT.resolve("build/container/health");
      assertThat(run(health.toString(), Integer.toString(url.getPort())).code()).isZero();
      server.destroy();
      assertThat(server.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(server.exitValue()).isZero();
      assertThat(run(health.toString(), Integer.toString(url.getPort())).code()).isEqualTo(1);
    } finally {
      server.destroyForcibly().waitFor();
    }
  }

  @Test
  void the_program_in_it_says_that_packages_are_made_in_a_checkout()
      throws IOException, InterruptedException {
    Ended ended =
        run(tree.resolve("usr/bin/millrace").toString(), "package", "deb", "--out", "none");
    assertThat(ended.code()).isEqualTo(1);
    assertThat(ended.output()).contains("in a checkout", "usr/bin/millrace");
    assertThat(Shell.run("package", "deb").err()).contains("in a checkout");
  }

  @Test
  void the_container_file_copies_what_is_there_and_runs_as_a_user_without_rights()
      throws IOException {
    String text = Files.readString(CHECKOUT.resolve("Containerfile"));
    Matcher copies = Pattern.compile("(?m)^COPY --from=build (\\S+) (\\S+)$").matcher(text);
    int count = 0;
    while (copies.find()) {
      String source = copies.group(1);
      Path origin =
          source.startsWith("/image/")
              ? tree.resolve(source.substring("/image/".length()))
              : CHECKOUT.resolve(source.substring("/src/".length()));
      assertThat(origin).as(source).exists();
      count++;
    }
    assertThat(count).isEqualTo(4);
    String last = text.substring(text.lastIndexOf("\nFROM "));
    assertThat(last)
        .contains("USER 10001:10001", "VOLUME /var/lib/millrace", "HEALTHCHECK ")
        .contains("ENTRYPOINT [\"/usr/bin/millrace\"]");
    // A start reads it: unknown keys and wrong values are refused.
    assertThat(
            Configuration.read(
                    MillraceServer.SECTIONS,
                    CHECKOUT.resolve("build/container/millrace.conf"),
                    List.of())
                .get(ServerSettings.SECTION)
                .address())
        .isEqualTo("0.0.0.0");
  }
}
