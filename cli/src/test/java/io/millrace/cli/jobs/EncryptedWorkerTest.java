package io.millrace.cli.jobs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.cli.Shell;
import io.millrace.cli.remote.CuttableProxy;
import io.millrace.client.ClientOptions;
import io.millrace.client.jobs.JobResult;
import io.millrace.client.jobs.JobWorker;
import io.millrace.client.jobs.JobWorkerOptions;
import io.millrace.client.jobs.WorkerRefusedException;
import io.millrace.http.transport.Certificates;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Workers of a server behind a proxy that speaks TLS. */
@Timeout(120)
class EncryptedWorkerTest {
  @TempDir private Path scratch = Path.of("");
  private JobFixture site;
  private Certificates certificates;
  private Path trusted;
  private CuttableProxy proxy;

  @BeforeEach
  void open() throws Exception {
    // The first encrypted words of a JVM take their time on a machine that is busy.
    site = new JobFixture(scratch.resolve("data"), "jobs.worker.kick-after-ms", "60000");
    certificates = new Certificates(scratch);
    trusted = certificates.make("proxy");
    proxy = CuttableProxy.encrypted(URI.create(site.address()), certificates.server("proxy"));
  }

  @AfterEach
  void close() throws Exception {
    proxy.close();
    site.close();
  }

  private JobWorkerOptions options(URI address) {
    return options(address, trusted);
  }

  private JobWorkerOptions options(URI address, @Nullable Path certificates) {
    return site.options("w")
        .withServer(
            ClientOptions.at(address)
                .withCertificates(certificates)
                .withConnectTimeout(Duration.ofSeconds(60)));
  }

  private void refused(JobWorkerOptions options, String... messages) {
    try (JobWorker worker = JobWorker.start(options, (_, _) -> JobResult.of(""))) {
      assertThatThrownBy(() -> worker.onEnd().get(60, TimeUnit.SECONDS))
          .isInstanceOf(ExecutionException.class)
          .cause()
          .isInstanceOf(WorkerRefusedException.class)
          .hasMessageContainingAll(messages);
      assertThat(worker.onReady()).isNotDone();
    }
  }

  @Test
  void a_worker_takes_jobs_through_tls_and_connects_again() throws Exception {
    URI shouted = URI.create(proxy.address().toString().replace("https", "HTTPS"));
    site.worker(
        options(shouted),
        (payload, _) ->
            JobResult.of(new String(payload.readAllBytes(), UTF_8).toUpperCase(Locale.ROOT)));
    assertThat(site.runReading("hello", "jobs", "submit", "-", "-o", "-").out()).isEqualTo("HELLO");
    proxy.cut();
    String large = "x".repeat(3_000_000);
    assertThat(site.runReading(large, "jobs", "submit", "-", "-o", "-").out())
        .isEqualTo(large.toUpperCase(Locale.ROOT));
  }

  @Test
  void an_unknown_certificate_is_refused_with_its_reason() throws Exception {
    String[] reason = {"the certificate of 127.0.0.1:" + proxy.address().getPort(), "not trusted"};
    refused(options(proxy.address(), null), reason);
    refused(options(proxy.address(), certificates.make("other")), reason);
  }

  @Test
  void a_certificate_of_another_host_is_refused() {
    URI other = URI.create("https://localhost:" + proxy.address().getPort());
    refused(options(other), "the certificate of localhost", "not trusted");
  }

  @Test
  void a_server_that_speaks_no_tls_is_refused() {
    refused(
        options(URI.create(site.address().replace("http", "https"))), "does not speak TLS", "127");
  }

  @Test
  void the_worker_command_takes_the_certificates_and_says_why_it_is_refused() {
    String address = proxy.address().toString();
    Shell.CommandResult ran = Shell.run("worker", "--server", address, "--", "true");
    assertThat(ran.code()).as(ran.err()).isEqualTo(1);
    assertThat(ran.err()).contains("the certificate of 127.0.0.1").hasLineCount(1);
    ran =
        Shell.run(
            "worker",
            "--server",
            address,
            "--certificates",
            trusted.toString(),
            "--type",
            "none",
            "true");
    assertThat(ran.err()).contains("no job types");
  }
}
