//! Mail over real servers: an SMTP server (aiosmtpd) that delivers into Maildirs, from which an IMAP server
//! (Dovecot) serves them.

mod dovecot;
mod hostile;
mod looking;
mod sending;
mod world;
