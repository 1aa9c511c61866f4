# expect: ok
import datetime
def run(p):
    d=datetime.datetime.now(datetime.timezone.utc); return [d.astimezone().isoformat()[:2], datetime.datetime.fromtimestamp(0).year, datetime.date.today().isocalendar()[0]>2000, d.strftime('%c %Z %z')[:1]!='']
