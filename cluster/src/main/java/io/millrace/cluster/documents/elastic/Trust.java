package io.millrace.cluster.documents.elastic;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Whom to trust over TLS. */
final class Trust {
  private Trust() {}

  /**
   * A context that trusts the certificates in a file, and nobody else.
   *
   * @throws IllegalArgumentException when the file cannot be read or holds no certificates
   */
  static SSLContext in(Path certificates) {
    try (InputStream file = Files.newInputStream(certificates)) {
      KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
      trusted.load(null, null);
      for (Certificate one : CertificateFactory.getInstance("X.509").generateCertificates(file)) {
        trusted.setCertificateEntry("trusted-" + trusted.size(), one);
      }
      if (trusted.size() == 0) {
        throw new IllegalArgumentException("there is no certificate in " + certificates);
      }
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(trusted);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return context;
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalArgumentException(
          "cannot read the certificates in " + certificates + ": " + e, e);
    }
  }
}
